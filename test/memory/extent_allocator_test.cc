#include "engine/memory/extent_allocator.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <vector>

#include "engine/base/random.h"

namespace corail {
namespace {

/// The obvious allocator: one flag per byte.
class Model {
 public:
  explicit Model(std::size_t capacity) : used_(capacity, false) {}

  /// Lowest aligned offset with that many free bytes, or -1.
  std::int64_t first_fit(std::uint64_t bytes, std::uint64_t alignment) const {
    if (bytes == 0) return -1;
    for (std::uint64_t at = 0; at + bytes <= used_.size(); at += alignment) {
      if (count(at, bytes) == 0) return static_cast<std::int64_t>(at);
    }
    return -1;
  }
  void set(std::uint64_t offset, std::uint64_t bytes, bool used) {
    for (std::uint64_t i = 0; i < bytes; ++i) used_[offset + i] = used;
  }
  std::uint64_t free_bytes() const { return used_.size() - count(0, used_.size()); }
  std::size_t holes() const {
    std::size_t holes = 0;
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (!used_[i] && (i == 0 || used_[i - 1])) ++holes;
    }
    return holes;
  }

 private:
  std::uint64_t count(std::uint64_t offset, std::uint64_t bytes) const {
    std::uint64_t used = 0;
    for (std::uint64_t i = 0; i < bytes; ++i) used += used_[offset + i] ? 1 : 0;
    return used;
  }

  std::vector<bool> used_;
};

struct Range {
  std::uint64_t offset;
  std::uint64_t bytes;
};

BOOST_AUTO_TEST_SUITE(extent_allocator)

BOOST_AUTO_TEST_CASE(agrees_with_the_obvious_allocator) {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    SeededRandom random(seed);
    const std::uint64_t capacity = 1 + random.below(500);
    ExtentAllocator allocator(capacity);
    Model model(capacity);
    std::vector<Range> live;
    for (int step = 0; step < 300; ++step) {
      if (random.below(2) == 0) {
        const std::uint64_t bytes = random.below(60);
        const std::uint64_t alignment = std::uint64_t{1} << random.below(6);
        const auto offset = allocator.allocate(bytes, alignment);
        const std::int64_t expected = model.first_fit(bytes, alignment);
        BOOST_REQUIRE_EQUAL(offset ? static_cast<std::int64_t>(*offset) : -1, expected);
        if (offset) {
          model.set(*offset, bytes, true);
          live.push_back({*offset, bytes});
        }
      } else if (!live.empty()) {
        const std::size_t at = random.below(live.size());
        Range& range = live[at];
        // Half of the time a piece from the front or the back, as saves share one allocation.
        const bool partly = range.bytes > 1 && random.below(2) == 0;
        const std::uint64_t bytes = partly ? 1 + random.below(range.bytes - 1) : range.bytes;
        const bool front = random.below(2) == 0;
        const std::uint64_t offset = front ? range.offset : range.offset + range.bytes - bytes;
        allocator.free(offset, bytes);
        model.set(offset, bytes, false);
        if (front) range.offset += bytes;
        range.bytes -= bytes;
        if (range.bytes == 0) live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
      }
      BOOST_REQUIRE_EQUAL(allocator.free_bytes(), model.free_bytes());
      BOOST_REQUIRE_EQUAL(allocator.holes(), model.holes());
    }
    for (const Range& range : live) allocator.free(range.offset, range.bytes);
    BOOST_TEST(allocator.free_bytes() == capacity);
    BOOST_TEST(allocator.holes() == 1U);
  }
}

BOOST_AUTO_TEST_CASE(consecutive_ranges_lie_back_to_back) {
  ExtentAllocator allocator(1 << 20);
  std::uint64_t expected = 0;
  for (int i = 0; i < 100; ++i) {
    const auto offset = allocator.allocate(768, 256);
    BOOST_REQUIRE(offset);
    BOOST_REQUIRE_EQUAL(*offset, expected);
    expected += 768;
  }
}

BOOST_AUTO_TEST_CASE(sizes_near_two_to_the_64_do_not_wrap) {
  ExtentAllocator allocator(4096);
  BOOST_REQUIRE(allocator.allocate(1, 1));
  BOOST_TEST(!allocator.allocate(~std::uint64_t{0}, 1));
  BOOST_TEST(!allocator.allocate(4095, 2));
  BOOST_TEST(!allocator.allocate(1, std::uint64_t{1} << 63));
  BOOST_TEST(allocator.allocate(4095, 1).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
