#include "engine/read/read_budget.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "test/support/repetitions.h"
#include "test/support/virtual_world.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Share = ReadBudget::Share;

constexpr std::uint64_t kBytes = 100;

std::shared_ptr<ReadBudget> budget_of(VirtualWorld& world, std::uint64_t bytes,
                                      std::size_t waiters) {
  BudgetFacts facts;
  facts.name = "the budget of a test";
  facts.option = "test_budget_bytes";
  facts.bytes = bytes;
  return std::make_shared<ReadBudget>(world.executor(), world.clock(), facts, waiters);
}

/// One read as the budget sees it.
struct Reader {
  std::uint64_t bytes = 0;
  TimePoint deadline{};
  CancelToken token;
  bool cancelled = false;
  VirtualWorld::Outcome<Result<Share>> outcome;

  bool ended() const { return outcome->has_value(); }
  bool admitted() const { return ended() && (**outcome).ok(); }
  Errc code() const { return (**outcome).error().code(); }
};

struct Budgeted {
  explicit Budgeted(std::uint64_t bytes = kBytes, std::size_t waiters = 1000)
      : budget(budget_of(world, bytes, waiters)) {}

  std::unique_ptr<Reader> start(std::uint64_t bytes, WhenFull when_full = WhenFull::kWait,
                                Duration patience = std::chrono::hours(1)) {
    auto reader = std::make_unique<Reader>();
    reader->bytes = bytes;
    reader->deadline = world.now() + patience;
    reader->outcome = world.start(budget->admit(bytes, when_full, reader->deadline, reader->token));
    world.settle();
    return reader;
  }

  VirtualWorld world;
  std::shared_ptr<ReadBudget> budget;
};

/// The model: reads that are in, and a queue that is served strictly from the front.
struct Model {
  void serve() {
    while (!queue.empty() && fits(queue.front()->bytes)) {
      in[queue.front()] = queue.front()->bytes;
      queue.pop_front();
    }
  }
  /// Whoever's time is over goes, one after the other, and lets the next ones in.
  void expire(TimePoint now) {
    const auto by_deadline = [](const Reader* a, const Reader* b) {
      return a->deadline < b->deadline;
    };
    while (!queue.empty()) {
      const auto first = std::min_element(queue.begin(), queue.end(), by_deadline);
      if ((*first)->deadline > now) return;
      queue.erase(first);
      serve();
    }
  }
  bool fits(std::uint64_t bytes) const { return in.empty() || sum() + bytes <= kBytes; }
  std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (const auto& [reader, bytes] : in) all += bytes;
    return all;
  }

  std::map<Reader*, std::uint64_t> in;
  std::deque<Reader*> queue;
};

BOOST_AUTO_TEST_SUITE(read_budget)

/// Never above the budget but by one read alone, first come first served, and nothing is left of
/// whoever went.
BOOST_AUTO_TEST_CASE(is_what_the_model_says_whatever_readers_do) {
  const auto seeds = static_cast<std::uint64_t>(repetitions(100));
  std::size_t alone = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SeededRandom random(seed);
    Budgeted it;
    Model model;
    std::vector<std::unique_ptr<Reader>> readers;
    for (int step = 0; step < 120; ++step) {
      Reader* const some = readers.empty() ? nullptr : readers[random.below(readers.size())].get();
      const bool in = some != nullptr && model.in.contains(some);
      const auto queued = std::find(model.queue.begin(), model.queue.end(), some);
      switch (random.below(6)) {
        case 0:
        case 1:
          readers.push_back(it.start(1 + random.below(random.below(8) == 0 ? 300 : 60),
                                     WhenFull::kWait,
                                     // No two deadlines are the same.
                                     milliseconds(1 + random.below(40)) + microseconds(step)));
          model.queue.push_back(readers.back().get());
          break;
        case 2:  // ends
          if (in) {
            (**some->outcome)->reset();
            model.in.erase(some);
          }
          break;
        case 3:  // learns what it really needs
          if (in) {
            const std::uint64_t bytes = random.below(some->bytes + 10);
            (**some->outcome)->shrink(bytes);
            model.in[some] = std::min(model.in[some], bytes);
          }
          break;
        case 4:  // gives up
          if (some != nullptr && queued != model.queue.end()) {
            some->token.cancel();
            some->cancelled = true;
            model.queue.erase(queued);
          }
          break;
        default:
          it.world.run_for(milliseconds(random.below(10)));
          model.expire(it.world.now());
          break;
      }
      it.world.settle();
      model.serve();
      BOOST_TEST_CONTEXT("seed " << seed << ", step " << step) {
        BOOST_TEST(it.budget->in_use() == model.sum());
        BOOST_TEST(it.budget->reads() == model.in.size());
        BOOST_TEST(it.budget->waiting() == model.queue.size());
        BOOST_TEST((it.budget->in_use() <= kBytes || it.budget->reads() == 1U));
        for (const auto& [reader, bytes] : model.in) BOOST_TEST(reader->admitted());
        for (Reader* const reader : model.queue) BOOST_TEST(!reader->ended());
      }
      if (it.budget->in_use() > kBytes) ++alone;
    }
    for (const auto& reader : readers) reader->token.cancel();
    it.world.settle();
    for (const auto& reader : readers) {
      BOOST_TEST_REQUIRE(reader->ended());
      if (reader->admitted()) {
        (**reader->outcome)->reset();
      } else if (reader->cancelled) {
        BOOST_TEST((reader->code() == Errc::kCancelled));
      }
    }
    it.world.settle();
    BOOST_TEST(it.budget->in_use() == 0U);
    BOOST_TEST(it.budget->reads() == 0U);
    BOOST_TEST(it.budget->waiting() == 0U);
  }
  BOOST_TEST(alone > 0U);
}

BOOST_AUTO_TEST_CASE(a_refusal_names_the_budget_its_use_and_the_option) {
  Budgeted it;
  const auto first = it.start(70);
  const auto refused = it.start(31, WhenFull::kRefuse);
  BOOST_TEST_REQUIRE(refused->ended());
  BOOST_TEST_REQUIRE(!refused->admitted());
  const Error error = (**refused->outcome).error();
  BOOST_TEST((error.code() == Errc::kQuotaExceeded));
  BOOST_TEST((error.error_class() == ErrorClass::kBackPressure));
  for (const char* const part :
       {"the budget of a test", "70 of 100 bytes", "raise test_budget_bytes"}) {
    BOOST_TEST(error.detail().find(part) != std::string::npos, error.to_string());
  }
  BOOST_TEST(it.start(30, WhenFull::kRefuse)->admitted());
}

BOOST_AUTO_TEST_CASE(whoever_does_not_wait_does_not_overtake_either) {
  Budgeted it;
  const auto first = it.start(70);
  const auto waits = it.start(50);
  BOOST_TEST(!it.start(10, WhenFull::kRefuse)->admitted());
  BOOST_TEST(!waits->ended());
}

BOOST_AUTO_TEST_CASE(a_read_larger_than_the_budget_takes_its_turn_alone) {
  Budgeted it;
  const auto small = it.start(10);
  const auto large = it.start(500);
  const auto next = it.start(10);
  BOOST_TEST(!large->ended());
  (**small->outcome)->reset();
  it.world.settle();
  BOOST_TEST(large->admitted());
  BOOST_TEST(!next->ended());
  (**large->outcome)->shrink(80);
  it.world.settle();
  BOOST_TEST(next->admitted());
  BOOST_TEST((it.start(500, WhenFull::kRefuse)->code() == Errc::kQuotaExceeded));
}

BOOST_AUTO_TEST_CASE(no_more_wait_than_may) {
  Budgeted it(kBytes, 2);
  const auto first = it.start(100);
  const auto second = it.start(1);
  const auto third = it.start(1);
  const auto fourth = it.start(1);
  BOOST_TEST_REQUIRE(fourth->ended());
  BOOST_TEST((fourth->code() == Errc::kBusy));
  BOOST_TEST(it.budget->waiting() == 2U);
}

BOOST_AUTO_TEST_CASE(the_deadline_ends_a_wait_and_lets_the_next_ones_go) {
  Budgeted it;
  const auto first = it.start(60);
  const auto large = it.start(90, WhenFull::kWait, milliseconds(20));
  const auto small = it.start(40);
  it.world.run_for(milliseconds(19));
  BOOST_TEST(!large->ended());
  BOOST_TEST(!small->ended());
  it.world.run_for(milliseconds(2));
  BOOST_TEST_REQUIRE(large->ended());
  BOOST_TEST((large->code() == Errc::kDeadline));
  BOOST_TEST(small->admitted());
}

BOOST_AUTO_TEST_CASE(without_a_bound_there_is_always_room) {
  Budgeted it(0);
  const auto first = it.start(~std::uint64_t{0} / 2);
  const auto second = it.start(1'000, WhenFull::kRefuse);
  BOOST_TEST(first->admitted());
  BOOST_TEST(second->admitted());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
