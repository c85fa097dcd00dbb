#include "engine/plan/layout.h"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace corail::testing {
namespace {

Layout make(std::vector<Slot> slots) { return Layout::make(std::move(slots)).value(); }

bool refused(std::vector<Slot> slots) {
  const auto layout = Layout::make(std::move(slots));
  return !layout && layout.error().code() == Errc::kInvalidArgument;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layout)

BOOST_AUTO_TEST_CASE(lanes_are_k_and_v_of_each_slot_in_turn) {
  const Layout made = make({{10, 20, 0}, {30, 0, 1}, {40, 50, 0}});
  const std::vector<std::uint32_t> expected{10, 20, 30, 40, 50};
  BOOST_TEST(
      std::vector<std::uint32_t>(made.lane_bytes().begin(), made.lane_bytes().end()) == expected,
      boost::test_tools::per_element());
  BOOST_TEST(made.lanes() == 5U);
  const std::vector<std::uint64_t> offsets{0, 10, 30, 60, 100};
  for (std::uint32_t lane = 0; lane < 5; ++lane) {
    BOOST_TEST(made.lane_offset(lane) == offsets[lane]);
  }
  BOOST_TEST(made.block_bytes() == 150U);
  BOOST_TEST(made.slots().size() == 3U);
}

BOOST_AUTO_TEST_CASE(the_id_covers_sizes_and_their_order_but_not_numa_hints) {
  const Layout one = make({{10, 20, 0}, {30, 0, 1}});
  BOOST_TEST(one.id() == make({{10, 20, 7}, {30, 0, 0}}).id());
  BOOST_TEST(one.same_shape(make({{10, 20, 7}, {30, 0, 0}})));
  const std::vector<std::vector<Slot>> others{{{30, 0, 0}, {10, 20, 0}},
                                              {{10, 20, 0}},
                                              {{20, 10, 0}, {30, 0, 0}},
                                              {{10, 0, 0}, {20, 0, 0}, {30, 0, 0}},
                                              {{10, 20, 0}, {30, 1, 0}}};
  for (const auto& slots : others) {
    BOOST_TEST(one.id() != make(slots).id());
    BOOST_TEST(!one.same_shape(make(slots)));
  }
}

BOOST_AUTO_TEST_CASE(the_id_is_the_same_on_every_machine) {
  // xxh3-64 of the bytes 00 10 00 00 00 10 00 00, as the reference library computes it.
  BOOST_TEST(make({{4096, 4096, 0}}).id() == 11620212230103968993ULL);
}

BOOST_AUTO_TEST_CASE(impossible_layouts_are_refused) {
  BOOST_TEST(refused({}));
  BOOST_TEST(refused({{0, 10, 0}}));
  BOOST_TEST(refused({{10, 10, 0}, {0, 0, 0}}));
  BOOST_TEST(refused({{kMaxSegmentBytes + 1, 0, 0}}));
  BOOST_TEST(refused({{1, kMaxSegmentBytes + 1, 0}}));
  BOOST_TEST(refused(std::vector<Slot>(kMaxSlots + 1, Slot{1, 0, 0})));
  BOOST_TEST(!refused(std::vector<Slot>(kMaxSlots, Slot{kMaxSegmentBytes, kMaxSegmentBytes, 0})));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::testing
