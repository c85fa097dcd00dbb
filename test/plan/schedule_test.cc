#include "engine/plan/schedule.h"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace corail::testing {
namespace {

RailLoad rail(std::uint64_t in_flight, std::uint64_t window, std::int32_t numa_node = 0,
              bool ready = true) {
  return {ready, in_flight, window, numa_node};
}

SliceFacts slice(std::uint64_t number, std::uint64_t bytes, std::int32_t numa_node = 0) {
  return {number, bytes, numa_node};
}

std::shared_ptr<const SchedulePolicy> policy(std::string_view name) {
  return make_schedule(name).value();
}

using Choice = std::optional<std::size_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(schedule)

BOOST_AUTO_TEST_CASE(windows_have_room_for_one_slice_at_least) {
  BOOST_TEST(has_room(rail(0, 100), 1000));
  BOOST_TEST(has_room(rail(40, 100), 60));
  BOOST_TEST(!has_room(rail(40, 100), 61));
  BOOST_TEST(!has_room(rail(200, 100), 1));  // the window shrank meanwhile
}

BOOST_AUTO_TEST_CASE(least_loaded_takes_the_emptiest_by_share_of_its_window) {
  const auto least = policy("least_loaded");
  const std::vector<RailLoad> rails{rail(50, 100), rail(300, 1000), rail(0, 1, 0, false)};
  BOOST_TEST((least->choose(slice(0, 10), rails) == Choice(1)));
  BOOST_TEST((least->choose(slice(0, 701), rails) == Choice()));
  BOOST_TEST((least->choose(slice(0, 700), rails) == Choice(1)));
  BOOST_TEST(least->may_take(0, slice(0, 10), rails));
  BOOST_TEST(!least->may_take(0, slice(0, 51), rails));
  BOOST_TEST(!least->may_take(2, slice(0, 1), rails));
  const std::uint64_t huge = ~std::uint64_t{0};
  const std::vector<RailLoad> large{rail(huge / 2, huge), rail(huge / 4, huge)};
  BOOST_TEST((least->choose(slice(0, 1), large) == Choice(1)));
}

BOOST_AUTO_TEST_CASE(round_robin_goes_over_the_ready_rails_in_turn) {
  const auto turns = policy("round_robin");
  const std::vector<RailLoad> rails{rail(0, 100), rail(0, 100, 0, false), rail(90, 100)};
  BOOST_TEST((turns->choose(slice(0, 10), rails) == Choice(0)));
  BOOST_TEST((turns->choose(slice(1, 10), rails) == Choice(2)));
  BOOST_TEST((turns->choose(slice(2, 10), rails) == Choice(0)));
  BOOST_TEST((turns->choose(slice(1, 11), rails) == Choice()));  // waits although rail 0 is empty
  BOOST_TEST(!turns->may_take(0, slice(1, 11), rails));
  BOOST_TEST(turns->may_take(2, slice(3, 10), rails));
  BOOST_TEST((turns->choose(slice(0, 1), {}) == Choice()));
}

BOOST_AUTO_TEST_CASE(locality_spills_when_the_near_rails_are_full) {
  const auto near = policy("locality");
  std::vector<RailLoad> rails{rail(0, 100, 0), rail(60, 100, 1), rail(20, 100, 1)};
  BOOST_TEST((near->choose(slice(0, 30, 1), rails) == Choice(2)));
  BOOST_TEST(near->may_take(1, slice(0, 30, 1), rails));
  BOOST_TEST(!near->may_take(0, slice(0, 30, 1), rails));
  BOOST_TEST((near->choose(slice(0, 90, 1), rails) == Choice(0)));
  BOOST_TEST(near->may_take(0, slice(0, 90, 1), rails));
  rails[1].ready = rails[2].ready = false;
  BOOST_TEST((near->choose(slice(0, 30, 1), rails) == Choice(0)));
  BOOST_TEST((near->choose(slice(0, 30, 7), rails) == Choice(0)));
}

BOOST_AUTO_TEST_CASE(unknown_names_are_refused_with_a_list) {
  const auto unknown = make_schedule("fastest");
  BOOST_REQUIRE(!unknown.ok());
  BOOST_TEST((unknown.error().code() == Errc::kUnknownName));
  for (const std::string_view name : {"least_loaded", "round_robin", "locality"}) {
    BOOST_TEST(policy(name)->name() == name);
    BOOST_TEST(unknown.error().detail().find(name) != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::testing
