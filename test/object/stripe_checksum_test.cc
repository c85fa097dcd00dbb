#include "engine/object/stripe_checksum.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/base/random.h"
#include "engine/object/object_descriptor.h"

namespace corail {
namespace {

std::vector<std::byte> random_bytes(SeededRandom& random, std::uint64_t length) {
  std::vector<std::byte> bytes(length);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
  return bytes;
}

BOOST_AUTO_TEST_SUITE(stripe_checksum_of_granules)

BOOST_AUTO_TEST_CASE(granules_may_be_added_in_any_order) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SeededRandom random(seed);
    const auto stripe = random_bytes(random, 1 + random.below(5 * kGranuleBytes));
    const std::size_t granules = (stripe.size() + kGranuleBytes - 1) / kGranuleBytes;
    std::vector<std::uint32_t> order(granules);
    std::iota(order.begin(), order.end(), 0U);
    for (std::size_t i = granules; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::uint64_t sum = 0;
    for (const std::uint32_t granule : order) {
      const std::uint64_t at = granule * kGranuleBytes;
      const std::uint64_t length = std::min<std::uint64_t>(kGranuleBytes, stripe.size() - at);
      sum += granule_term(xxh3_64(std::span(stripe).subspan(at, length)), granule);
    }
    BOOST_TEST((stripe_checksum(sum, stripe.size()) == stripe_checksum(stripe)));
  }
}

BOOST_AUTO_TEST_CASE(a_flipped_bit_swapped_granules_and_a_lost_end_change_it) {
  SeededRandom random(1);
  const auto stripe = random_bytes(random, 3 * kGranuleBytes + 5);
  const Checksum64 right = stripe_checksum(stripe);
  for (int i = 0; i < 20; ++i) {
    auto flipped = stripe;
    flipped[random.below(flipped.size())] ^= std::byte{1};
    BOOST_TEST((stripe_checksum(flipped) != right));
  }
  auto swapped = stripe;
  std::swap_ranges(swapped.begin(), swapped.begin() + kGranuleBytes,
                   swapped.begin() + kGranuleBytes);
  BOOST_TEST((stripe_checksum(swapped) != right));
  BOOST_TEST((stripe_checksum(std::span(stripe).first(stripe.size() - 5)) != right));
  BOOST_TEST((stripe_checksum(std::span(stripe).first(0)) != right));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
