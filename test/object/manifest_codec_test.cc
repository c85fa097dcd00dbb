#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/base/random.h"
#include "proto/corail/v1/manifest.pb.h"
#include "rpc/manifest/codec_manifest.h"
#include "test/object/sample_striping.h"

namespace corail::test {
namespace {

const ProtobufManifestCodec kCodec;

template <typename T>
std::string text_of(const Result<T>& result) {
  return result.ok() ? std::string("accepted") : result.error().to_string();
}

/// A file whose checksum is right, as somebody hostile could make it.
std::vector<std::byte> forged(const v1::StripingInfo& message) {
  v1::StoreFile file;
  file.set_kind(0x4D414E01);
  file.set_body(message.SerializeAsString());
  file.set_checksum(xxh3_64(std::string_view(file.body())));
  const std::string bytes = file.SerializeAsString();
  const auto view = std::as_bytes(std::span(bytes));
  return {view.begin(), view.end()};
}

v1::StripingInfo message_of(const StripingInfo& info) {
  const auto bytes = kCodec.encode(info);
  v1::StoreFile file;
  BOOST_REQUIRE(file.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  v1::StripingInfo message;
  BOOST_REQUIRE(message.ParseFromString(file.body()));
  return message;
}

void check_refused(const v1::StripingInfo& message, std::string_view part) {
  const auto decoded = kCodec.decode(forged(message));
  BOOST_TEST_CONTEXT(part) {
    BOOST_REQUIRE(!decoded.ok());
    BOOST_TEST((decoded.error().code() == Errc::kBadManifest));
    BOOST_TEST(decoded.error().detail().find(part) != std::string::npos, text_of(decoded));
  }
}

BOOST_AUTO_TEST_SUITE(manifest_codec)

BOOST_AUTO_TEST_CASE(manifests_come_back_as_they_were) {
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, kGranuleBytes, 9 * kGranuleBytes + 5}) {
    const StripingInfo info = sample_striping(size);
    const auto decoded = kCodec.decode(kCodec.encode(info));
    BOOST_TEST(decoded.ok(), text_of(decoded));
    BOOST_TEST((decoded.ok() && *decoded == info));
  }
}

// Whatever a disk does to one byte, or to the end of the file: it is noticed, or it does not
// matter.
BOOST_AUTO_TEST_CASE(corrupt_manifest_fails_or_is_the_same) {
  const StripingInfo info = sample_striping(3 * kGranuleBytes + 9);
  const std::vector<std::byte> bytes = kCodec.encode(info);
  std::uint64_t refused = 0;
  std::uint64_t tried = 0;
  const auto check = [&](std::span<const std::byte> changed) {
    ++tried;
    const auto decoded = kCodec.decode(changed);
    if (!decoded.ok()) ++refused;
    BOOST_TEST((decoded.ok() ? *decoded == info : decoded.error().code() == Errc::kBadManifest));
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bits = 1; bits < 256; ++bits) {
      std::vector<std::byte> changed = bytes;
      changed[i] ^= static_cast<std::byte>(bits);
      check(changed);
    }
  }
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    check(std::span(bytes).first(length));
  }
  SeededRandom random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::vector<std::byte> changed = bytes;
    for (std::uint64_t left = 1 + random.below(8); left > 0; --left) {
      changed[random.below(changed.size())] = static_cast<std::byte>(random.next());
    }
    check(changed);
  }
  BOOST_TEST_MESSAGE(bytes.size() << " bytes, " << tried << " changes, " << refused << " refused");
  BOOST_TEST(refused > bytes.size() * 250);
}

BOOST_AUTO_TEST_CASE(hostile_manifest_is_refused_by_what_is_wrong) {
  const v1::StripingInfo sound = message_of(sample_striping(9 * kGranuleBytes));
  BOOST_TEST(kCodec.decode(forged(sound)).ok());
  v1::StripingInfo message = sound;
  message.set_size(std::numeric_limits<std::uint64_t>::max());
  check_refused(message, "18446744073709551615 bytes");
  message = sound;
  message.set_stripe_size(0);
  check_refused(message, "stripes of 0 bytes");
  message = sound;
  message.set_stripe_size(std::numeric_limits<std::uint64_t>::max() - kGranuleBytes + 1);
  check_refused(message, "more than the");
  message = sound;
  message.set_generation(0);
  check_refused(message, "generation 0");
  message = sound;
  message.set_key("");
  check_refused(message, "no key");
  message = sound;
  message.set_home(9);
  check_refused(message, "node 9 of 2");
  message = sound;
  message.set_stripe_nodes(1, 4'000'000'000U);
  check_refused(message, "stripe 1 is on node 4000000000");
  message = sound;
  message.add_stripe_offsets(1);
  check_refused(message, "nodes of 5 stripes, but another array of them has 6");
  message = sound;
  message.set_granule_checksums(8, 1);
  check_refused(message, "stripe 4");
  message = sound;
  for (int i = 0; i < 1023; ++i) message.add_nodes();
  check_refused(message, "1025 nodes");
  message = sound;
  for (int i = 0; i < 3'000'000; ++i) message.mutable_nodes(0)->add_addresses();
  check_refused(message, "2 nodes of 60000");
}

BOOST_AUTO_TEST_CASE(other_files_are_no_manifests) {
  const StoreHead head{5, 1, 3, 4096};
  const auto bytes = kCodec.encode_head(head);
  const auto back = kCodec.decode_head(bytes);
  BOOST_TEST((back.ok() && *back == head), text_of(back));
  const auto confused = kCodec.decode(bytes);
  BOOST_TEST(text_of(confused).find("kind 48454101 where 4d414e01") != std::string::npos,
             text_of(confused));
  BOOST_TEST(!kCodec.decode(std::vector<std::byte>(kMaxManifestBytes + 1)).ok());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::vector<std::byte> changed = bytes;
    changed[i] ^= std::byte{0x10};
    const auto decoded = kCodec.decode_head(changed);
    BOOST_TEST((!decoded.ok() || *decoded == head));
  }
  BOOST_TEST(!kCodec.decode_head(kCodec.encode_head({5, 3, 3, 1})).ok());
  BOOST_TEST(!kCodec.decode_head(kCodec.encode_head({5, 0, 3, 0})).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
