#include "engine/rail/port_budget.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine/base/random.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kPortBytes = 1000;

/// A rail as far as the port's budget knows it.
struct Poster {
  explicit Poster(const std::shared_ptr<PortBudget>& budget) : place(budget, [this] { ++wakes; }) {}

  std::uint64_t posted() const {
    std::uint64_t all = 0;
    for (const std::uint64_t bytes : slices) all += bytes;
    return all;
  }
  void post(std::uint64_t bytes) {
    place.posted(bytes);
    slices.push_back(bytes);
  }
  void land() {
    const std::uint64_t bytes = slices.front();
    slices.pop_front();
    place.ended(bytes);
  }

  std::size_t wakes = 0;
  std::deque<std::uint64_t> slices;
  PortBudget::Place place;
};

std::uint64_t posted_by(const std::vector<std::unique_ptr<Poster>>& posters) {
  std::uint64_t all = 0;
  for (const auto& poster : posters) all += poster->posted();
  return all;
}

BOOST_AUTO_TEST_SUITE(port_budget)

BOOST_AUTO_TEST_CASE(no_course_of_events_exceeds_it_or_loses_any_of_it) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    const auto budget = std::make_shared<PortBudget>(kPortBytes);
    std::vector<std::unique_ptr<Poster>> posters(2 + random.below(6));
    for (auto& poster : posters) poster = std::make_unique<Poster>(budget);
    for (int step = 0; step < 300; ++step) {
      auto& poster = posters[random.below(posters.size())];
      const std::uint64_t most = 1 + random.below(400);
      switch (random.below(8)) {
        case 0:
          // A rail that goes with nothing posted, perhaps from within the queue.
          if (poster->slices.empty()) poster = std::make_unique<Poster>(budget);
          break;
        case 1:
          poster->place.settle();
          break;
        case 2:
        case 3:
        case 4:
          if (!poster->slices.empty()) poster->land();
          break;
        default:
          if (poster->place.reserve(most)) poster->post(1 + random.below(most));
          break;
      }
      BOOST_TEST(posted_by(posters) <= budget->in_use());
      BOOST_TEST(budget->in_use() <= kPortBytes);
      const bool waits = std::any_of(posters.begin(), posters.end(),
                                     [](const auto& each) { return each->place.waiting(); });
      BOOST_TEST(budget->crowded() == waits);
    }
    for (const auto& poster : posters) {
      while (!poster->slices.empty()) poster->land();
    }
    posters.clear();
    BOOST_TEST(budget->in_use() == 0U);
    BOOST_TEST(!budget->crowded());
  }
}

BOOST_AUTO_TEST_CASE(rails_get_room_in_the_order_in_which_they_asked) {
  const auto budget = std::make_shared<PortBudget>(kPortBytes);
  Poster first(budget);
  Poster second(budget);
  Poster third(budget);
  BOOST_TEST(first.place.reserve(600));
  first.post(600);
  BOOST_TEST(first.place.reserve(400));
  first.post(400);
  BOOST_TEST(!second.place.reserve(600));
  // It would fit sooner, and comes later all the same.
  BOOST_TEST(!third.place.reserve(100));
  first.slices.push_back(first.slices.front());
  first.slices.pop_front();
  first.land();
  BOOST_TEST(second.wakes == 0U);
  BOOST_TEST(third.wakes == 0U);
  first.land();
  BOOST_TEST(second.wakes == 1U);
  BOOST_TEST(third.wakes == 1U);
  BOOST_TEST(second.place.reserve(600));
  second.post(600);
  BOOST_TEST(third.place.reserve(100));
  third.post(100);
}

BOOST_AUTO_TEST_CASE(what_is_reserved_and_not_used_goes_to_the_next_one) {
  const auto budget = std::make_shared<PortBudget>(kPortBytes);
  Poster first(budget);
  Poster second(budget);
  BOOST_TEST(first.place.reserve(800));
  BOOST_TEST(!second.place.reserve(800));
  first.post(100);
  BOOST_TEST(second.wakes == 1U);
  second.place.settle();
  BOOST_TEST(budget->in_use() == 100U);
  // One that leaves the queue lets the next one through.
  BOOST_TEST(first.place.reserve(900));
  auto third = std::make_unique<Poster>(budget);
  BOOST_TEST(!third->place.reserve(950));
  BOOST_TEST(!second.place.reserve(10));
  first.post(880);
  BOOST_TEST(second.wakes == 1U);
  third.reset();
  BOOST_TEST(second.wakes == 2U);
}

BOOST_AUTO_TEST_CASE(no_bound_and_no_budget_are_always_room) {
  for (const auto& budget : {std::shared_ptr<PortBudget>(), std::make_shared<PortBudget>(0)}) {
    Poster poster(budget);
    BOOST_TEST(poster.place.most() == ~std::uint64_t{0});
    for (int i = 0; i < 100; ++i) {
      BOOST_TEST(poster.place.reserve(1'000'000));
      poster.post(1'000'000);
    }
    while (!poster.slices.empty()) poster.land();
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
