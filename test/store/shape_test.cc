#include "engine/store/shape.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "test/store/support.h"

namespace corail::testing {
namespace {

using detail::ShapeBook;

BOOST_AUTO_TEST_SUITE(shapes)

BOOST_AUTO_TEST_CASE(equal_things_are_one_object) {
  ShapeBook book;
  const auto layout = book.intern(layout_of(2, 8, 8));
  BOOST_TEST((book.intern(layout_of(2, 8, 8)) == layout));
  BOOST_TEST((book.intern(layout_of(2, 8, 16)) != layout));
  const std::vector<std::uint32_t> halves{0, 0, 1, 1};
  const std::vector<std::uint32_t> mixed{0, 1, 0, 1};
  const auto partition = book.partition(layout, halves, 2);
  const auto again = book.partition(layout, halves, 2);
  const auto other = book.partition(layout, mixed, 2);
  BOOST_REQUIRE((partition && again && other));
  BOOST_TEST((*partition == *again));
  BOOST_TEST((*partition != *other));

  const auto block_major = book.shape(*partition, 0, BlockOrder::kBlockMajor, 5);
  BOOST_TEST((book.shape(*partition, 0, BlockOrder::kBlockMajor, 9) == block_major));
  BOOST_TEST((book.shape(*partition, 1, BlockOrder::kBlockMajor, 5) != block_major));
  const auto lane_major = book.shape(*partition, 0, BlockOrder::kLaneMajor, 5);
  BOOST_TEST((book.shape(*partition, 0, BlockOrder::kLaneMajor, 5) == lane_major));
  BOOST_TEST((book.shape(*partition, 0, BlockOrder::kLaneMajor, 6) != lane_major));
  BOOST_TEST((lane_major != block_major));
  // The same memory, so the same shape: runs go on.
  BOOST_TEST((book.shape(*partition, 0, BlockOrder::kLaneMajor, 1) == block_major));
}

BOOST_AUTO_TEST_CASE(one_lane_has_one_order) {
  ShapeBook book;
  const auto layout = book.intern(layout_of(1, 8, 8));
  const std::vector<std::uint32_t> each{0, 1};
  const auto partition = book.partition(layout, each, 2);
  BOOST_REQUIRE(partition);
  BOOST_TEST((book.shape(*partition, 0, BlockOrder::kLaneMajor, 7) ==
              book.shape(*partition, 0, BlockOrder::kBlockMajor, 3)));
}

BOOST_AUTO_TEST_CASE(what_nobody_uses_is_forgotten) {
  ShapeBook book;
  for (std::uint32_t bytes = 1; bytes < 5000; ++bytes) {
    const auto layout = book.intern(layout_of(2, bytes, bytes));
    const auto partition = book.partition(layout, {}, 1);
    BOOST_REQUIRE(partition);
    BOOST_REQUIRE(book.shape(*partition, 0, BlockOrder::kLaneMajor, bytes + 1));
    BOOST_REQUIRE_LE(book.size(), 200U);
  }
}

BOOST_AUTO_TEST_CASE(bad_parts_are_refused) {
  ShapeBook book;
  const auto layout = book.intern(layout_of(2, 8, 8));
  const auto code = [&](std::vector<std::uint32_t> part_of, std::size_t parts) {
    return book.partition(layout, part_of, parts).error().code();
  };
  BOOST_TEST((code({0, 0, 0}, 1) == Errc::kInvalidArgument));
  BOOST_TEST((code({0, 0, 0, 2}, 2) == Errc::kInvalidArgument));
  BOOST_TEST((code({0, 0, 0, 0}, 2) == Errc::kInvalidArgument));
  BOOST_TEST((code({}, 0) == Errc::kInvalidArgument));
  BOOST_TEST((code({}, kMaxParts + 1) == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
