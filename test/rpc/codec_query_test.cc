#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "proto/corail/v1/blocks.pb.h"
#include "rpc/codec.h"
#include "rpc/wire_format.h"
#include "test/rpc/bytes.h"
#include "test/rpc/codec_checks.h"
#include "test/rpc/codec_samples.h"

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(wire)

BOOST_AUTO_TEST_CASE(varints) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t value :
         {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1, ~std::uint64_t{0} >> bit}) {
      Bytes bytes(varint_bytes(value));
      WireWriter writer(bytes);
      writer.varint(value);
      BOOST_TEST(writer.full());
      const std::byte* at = bytes.data();
      std::uint64_t back = 0;
      BOOST_TEST(read_varint(at, bytes.data() + bytes.size(), back));
      BOOST_TEST(back == value);
      at = bytes.data();
      BOOST_TEST(!read_varint(at, bytes.data() + bytes.size() - 1, back));
      const auto number = static_cast<std::int64_t>(value);
      BOOST_TEST(unzigzag(zigzag(number)) == number);
    }
  }
  const Bytes endless(11, std::byte{0x80});
  const std::byte* at = endless.data();
  std::uint64_t value = 0;
  BOOST_TEST(!read_varint(at, endless.data() + endless.size(), value));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(query)

BOOST_AUTO_TEST_CASE(query_round_trip_and_equal_to_generated_code) {
  for (const std::size_t count : {1U, 3U, 1000U}) {
    const BlockKeys keys = keys_of(count, 1 + count % 64);
    BOOST_TEST(check_query(ReadId(5), keys).ok());
    const Bytes body =
        body_of(encode_query(ReadId(5), keys, std::chrono::milliseconds(2500), 0xABCDEF,
                             AnswerEncoding::kSegments, std::chrono::microseconds(4001)));
    const auto back = decode_query(body);
    BOOST_REQUIRE(back.ok());
    BOOST_TEST((back->read == ReadId(5) && back->ttl == std::chrono::milliseconds(2500)));
    BOOST_TEST(back->name_space == keys.name_space);
    BOOST_TEST((back->wait == std::chrono::milliseconds(5)));  // rounded up
    BOOST_TEST(back->layout_id == 0xABCDEFU);
    BOOST_TEST((back->encoding == AnswerEncoding::kSegments));
    BOOST_TEST(
        (back->hashes == std::vector<std::string_view>(keys.hashes.begin(), keys.hashes.end())));
    v1::QueryBlocksForTransferRequest message;
    BOOST_REQUIRE(message.ParseFromArray(body.data(), static_cast<int>(body.size())));
    BOOST_TEST(message.SerializeAsString() == text_of(body));
  }
}

BOOST_AUTO_TEST_CASE(query_fields_are_checked) {
  const auto refused = [](std::string_view field,
                          std::function<void(v1::QueryBlocksForTransferRequest&)> change) {
    v1::QueryBlocksForTransferRequest message;
    message.set_read_id(1);
    message.add_hashes("h");
    change(message);
    check_names(decode_query(bytes_of_message(message)), field);
  };
  refused("read_id", [](auto& m) { m.clear_read_id(); });
  refused("hashes", [](auto& m) { m.clear_hashes(); });
  refused("encoding", [](auto& m) { m.set_encoding(static_cast<v1::AnswerEncoding>(3)); });
  refused("[1]", [](auto& m) { m.add_hashes(""); });
  refused("[1]", [](auto& m) { m.add_hashes(std::string(65, 'x')); });
  refused("hashes", [](auto& m) {
    for (int i = 0; i < 65'536; ++i) m.add_hashes("h");
  });
  refused("name_space", [](auto& m) { m.set_name_space(std::string(257, 'x')); });
  refused("ttl_ms", [](auto& m) { m.set_ttl_ms(kMaxTtlMs + 1); });
  refused("wait_ms", [](auto& m) { m.set_wait_ms(kMaxTtlMs + 1); });
  check_names(decode_read_id(Method::kQuiesceRead, {}), "read_id");

  BOOST_TEST(!check_query(ReadId(0), keys_of(1)).ok());
  BOOST_TEST(!check_query(ReadId(1), keys_of(0)).ok());
  BOOST_TEST(!check_query(ReadId(1), keys_of(2, 65)).ok());
  BOOST_TEST(!check_query(ReadId(1), keys_of(2, 0)).ok());
  BOOST_TEST((check_query(ReadId(1), keys_of(65'537)).error().code() == Errc::kTooLarge));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
