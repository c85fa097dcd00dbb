#include "apps/p2p_bench/content.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "engine/base/random.h"

namespace corail::bench {
namespace {

using Bytes = std::vector<std::byte>;

Bytes content_of(const CellId& cell, std::size_t size) {
  Bytes bytes(size);
  fill_content(bytes, cell);
  return bytes;
}

std::uint64_t naive_difference(const Bytes& a, const Bytes& b) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

CellId random_cell(SeededRandom& random) {
  return {random.next(), static_cast<std::uint32_t>(random.below(8)),
          static_cast<std::uint32_t>(random.below(1000)),
          static_cast<std::uint32_t>(random.below(576))};
}

BOOST_AUTO_TEST_SUITE(content)

BOOST_AUTO_TEST_CASE(what_was_filled_is_accepted_at_every_size) {
  SeededRandom random(1);
  for (std::size_t size = 0; size <= 67; ++size) {
    const CellId cell = random_cell(random);
    BOOST_TEST(count_mismatches(content_of(cell, size), cell) == 0U);
  }
}

BOOST_AUTO_TEST_CASE(counts_exactly_the_bytes_that_differ) {
  SeededRandom random(2);
  for (std::size_t round = 0; round < 500; ++round) {
    const CellId cell = random_cell(random);
    const Bytes original = content_of(cell, 1 + random.below(300));
    Bytes damaged = original;
    for (std::size_t hits = random.below(20); hits > 0; --hits) {
      damaged[random.below(damaged.size())] = static_cast<std::byte>(random.next());
    }
    BOOST_TEST(count_mismatches(damaged, cell) == naive_difference(original, damaged));
  }
}

BOOST_AUTO_TEST_CASE(sees_every_shift_inside_a_segment) {
  const CellId cell = {5, 0, 3, 7};
  const std::size_t size = 4096;
  const Bytes original = content_of(cell, size);
  for (std::size_t shift = 1; shift < size; ++shift) {
    Bytes rotated = original;
    std::rotate(rotated.begin(), rotated.begin() + static_cast<std::ptrdiff_t>(shift),
                rotated.end());
    // Random bytes agree once in 256 places; a structure that repeats would agree far more often.
    const std::uint64_t wrong = count_mismatches(rotated, cell);
    if (wrong < size * 9 / 10) BOOST_ERROR("shift by " << shift << " shows " << wrong << " bytes");
  }
}

BOOST_AUTO_TEST_CASE(sees_every_swap_of_two_different_bytes) {
  const CellId cell = {6, 1, 2, 3};
  Bytes bytes = content_of(cell, 64);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (bytes[i] == bytes[j]) continue;
      std::swap(bytes[i], bytes[j]);
      if (count_mismatches(bytes, cell) != 2) BOOST_ERROR("swap of " << i << " and " << j);
      std::swap(bytes[i], bytes[j]);
    }
  }
}

BOOST_AUTO_TEST_CASE(sees_every_swapped_cell) {
  SeededRandom random(3);
  const auto next = [](CellId cell, int field) {
    if (field == 0) ++cell.seed;
    if (field == 1) ++cell.set;
    if (field == 2) ++cell.block;
    if (field == 3) ++cell.lane;
    return cell;
  };
  for (std::size_t round = 0; round < 200; ++round) {
    const CellId cell = random_cell(random);
    const Bytes bytes = content_of(cell, 512);
    for (int field = 0; field < 4; ++field) {
      BOOST_TEST(count_mismatches(bytes, next(cell, field)) > 450U);
    }
    CellId transposed = cell;
    std::swap(transposed.block, transposed.lane);
    if (cell.block != cell.lane) BOOST_TEST(count_mismatches(bytes, transposed) > 450U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
