#include "engine/object/descriptor_check.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "engine/base/random.h"
#include "engine/base/units.h"

namespace corail {
namespace {

ObjectDescriptor object_of(std::uint64_t size, std::uint64_t stripe_size) {
  ObjectDescriptor object;
  object.key = "weights/shard-3";
  object.size = size;
  object.generation = ObjectGeneration(1);
  object.stripe_size = stripe_size;
  for (std::uint64_t id : {7, 9}) object.nodes.push_back({NodeId(id), {"10.0.0.2:7700"}});
  for (std::uint64_t at = 0; at < size; at += stripe_size) {
    ObjectChunk chunk;
    chunk.node = static_cast<std::uint32_t>(object.chunks.size() % 2);
    chunk.length = std::min(stripe_size, size - at);
    object.chunks.push_back(chunk);
  }
  return object;
}

BOOST_AUTO_TEST_SUITE(descriptor_check)

BOOST_AUTO_TEST_CASE(every_size_with_its_stripes_passes) {
  const auto passes = [](std::uint64_t size, std::uint64_t stripe_size) {
    const auto checked = check_descriptor(object_of(size, stripe_size));
    BOOST_TEST_CONTEXT(size << " bytes in stripes of " << stripe_size) { BOOST_TEST(checked.ok()); }
  };
  passes(0, kGranuleBytes);
  passes(1, kGranuleBytes);
  passes(1, kMaxStripeBytes);
  passes(kMaxObjectStripes * kGranuleBytes, kGranuleBytes);
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SeededRandom random(seed);
    passes(random.below(256 * kMiB), (1 + random.below(64)) * kGranuleBytes);
  }
}

BOOST_AUTO_TEST_CASE(offsets_and_devices_are_nobodys_concern) {
  ObjectDescriptor object = object_of(kMiB, kGranuleBytes);
  object.chunks[2].offset = std::numeric_limits<std::uint64_t>::max();
  object.chunks[2].device = std::numeric_limits<std::uint32_t>::max();
  BOOST_TEST(check_descriptor(object).ok());
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_refused_and_named) {
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  struct Case {
    std::function<void(ObjectDescriptor&)> spoil;
    std::string named;
  };
  const Case cases[] = {
      {[](auto& o) { o.key.clear(); }, "no key"},
      {[](auto& o) { o.key.assign(kMaxObjectKeyBytes + 1, 'k'); }, "a key of 1025 bytes"},
      {[](auto& o) { o.generation = ObjectGeneration(0); }, "generation 0"},
      {[](auto& o) { o.stripe_size = 0; }, "stripes of 0 bytes"},
      {[](auto& o) { o.stripe_size += 1; }, "no multiple of 262144"},
      {[](auto& o) { o.stripe_size = kMaxStripeBytes + kGranuleBytes; }, "1074003968 bytes, more"},
      {[](auto& o) { o.nodes.resize(kMaxObjectNodes + 1); }, "1025 nodes"},
      {[](auto& o) { o.nodes[1].addresses.clear(); }, "node 1 0 addresses"},
      {[](auto& o) { o.nodes[1].addresses.resize(kMaxNodeAddresses + 1, "a"); }, "17 addresses"},
      {[](auto& o) { o.nodes[1].addresses[0].clear(); }, "an address that is empty"},
      {[](auto& o) { o.nodes[0].addresses[0].assign(kMaxNodeAddressBytes + 1, 'a'); }, "node 0 an"},
      {[](auto& o) { o.nodes[1].id = o.nodes[0].id; }, "one node twice"},
      {[](auto& o) { o.size = kHuge; }, "70368744177664 stripes"},
      {[](auto& o) { o.size = (kMaxObjectStripes + 1) * kGranuleBytes; }, "65537 stripes"},
      {[](auto& o) { o.size += kGranuleBytes; }, "4 chunks, but its 1310720 bytes"},
      {[](auto& o) { o.chunks.pop_back(); }, "3 chunks"},
      {[](auto& o) { o.chunks.clear(); }, "0 chunks"},
      {[](auto& o) { o.chunks[1].length -= 1; }, "stripe 1 has 262143 bytes"},
      {[](auto& o) { o.chunks[1].length = kHuge; }, "stripe 1 has 18446744073709551615 bytes"},
      {[](auto& o) { o.chunks[3].length += 1; }, "must have 262144"},
      {[](auto& o) { o.chunks[0].node = 2; }, "stripe 0 is on node 2 of 2"},
      {[](auto& o) { o.nodes.clear(); }, "on node 0 of 0"},
  };
  for (const Case& it : cases) {
    ObjectDescriptor object = object_of(kMiB, kGranuleBytes);
    it.spoil(object);
    const auto checked = check_descriptor(object);
    BOOST_TEST_CONTEXT(it.named) {
      BOOST_REQUIRE(!checked.ok());
      BOOST_TEST((checked.error().code() == Errc::kProtocol));
      BOOST_TEST(checked.error().detail().find(it.named) != std::string::npos,
                 checked.error().detail());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
