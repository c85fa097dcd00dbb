#include "engine/base/clock.h"

#include <algorithm>
#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/random.h"

namespace corail {
namespace {

void settle(asio::io_context& context) {
  context.restart();
  context.poll();
}

/// A manual clock under random use, beside a list of timers that is searched. A callback that is
/// due is queued; arming its timer again or destroying it still takes it back.
class Game {
 public:
  explicit Game(std::uint64_t seed) : random_(seed) {}

  void play() {
    for (int turn = 1; turn < 200; ++turn) {
      const std::size_t index = random_.below(timers_.size());
      if (!timers_[index].timer) timers_[index].timer = clock_.make_timer(context_.get_executor());
      const auto move = random_.below(6);
      if (move < 2) {
        arm(index, turn);
      } else if (move == 2) {
        cancel(index);
      } else if (move == 3) {
        forget(index);
        timers_[index].timer.reset();
      } else if (move == 4) {
        advance();
      } else {
        check_calls();
      }
      check_next();
    }
    check_calls();
  }

  std::size_t called() const { return called_; }

 private:
  struct Model {
    std::unique_ptr<Timer> timer;
    std::optional<TimePoint> due;
    int armed_in = 0;  // turn; decides ties
  };

  void arm(std::size_t index, int turn) {
    forget(index);
    Model& model = timers_[index];
    model.due = clock_.now() + Duration(random_.below(20)) - Duration(4);  // or in the past
    model.armed_in = turn;
    model.timer->wait_until(*model.due, [this, index, turn](bool expired) {
      calls_.push_back(name(index, turn, expired));
    });
    if (*model.due <= clock_.now()) queue(index, true);
  }

  void cancel(std::size_t index) {
    timers_[index].timer->cancel();
    if (timers_[index].due) queue(index, false);
  }

  void advance() {
    const TimePoint to = clock_.now() + Duration(random_.below(10));
    std::vector<std::size_t> due;
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      if (timers_[i].due && *timers_[i].due <= to) due.push_back(i);
    }
    std::sort(due.begin(), due.end(), [this](std::size_t a, std::size_t b) {
      return std::pair(*timers_[a].due, timers_[a].armed_in) <
             std::pair(*timers_[b].due, timers_[b].armed_in);
    });
    for (const std::size_t i : due) queue(i, true);
    clock_.advance_to(to);
    BOOST_REQUIRE((clock_.now() == to));
  }

  void queue(std::size_t index, bool expired) {
    queued_.emplace_back(index, name(index, timers_[index].armed_in, expired));
    timers_[index].due.reset();
  }

  void forget(std::size_t index) {
    timers_[index].due.reset();
    std::erase_if(queued_, [index](const auto& call) { return call.first == index; });
  }

  void check_calls() {
    BOOST_REQUIRE(calls_.empty());  // nothing is called from within a call of ours
    context_.restart();
    context_.poll();
    std::vector<std::string> expected;
    for (const auto& call : std::exchange(queued_, {})) expected.push_back(call.second);
    BOOST_REQUIRE_EQUAL_COLLECTIONS(calls_.begin(), calls_.end(), expected.begin(), expected.end());
    called_ += calls_.size();
    calls_.clear();
  }

  void check_next() {
    std::optional<TimePoint> next;
    for (const Model& model : timers_) {
      if (model.due && (!next || *model.due < *next)) next = model.due;
    }
    TimePoint due;
    BOOST_REQUIRE_EQUAL(clock_.next_due(due), next.has_value());
    if (next) BOOST_REQUIRE((due == *next));
  }

  static std::string name(std::size_t index, int turn, bool expired) {
    return std::to_string(index) + " armed in turn " + std::to_string(turn) +
           (expired ? " expired" : " cancelled");
  }

  SeededRandom random_;
  asio::io_context context_;
  ManualClock clock_;
  std::vector<Model> timers_ = std::vector<Model>(6);
  std::vector<std::pair<std::size_t, std::string>> queued_;  // the model's
  std::vector<std::string> calls_;                           // the clock's
  std::size_t called_ = 0;
};

BOOST_AUTO_TEST_SUITE(manual_clock)

BOOST_AUTO_TEST_CASE(calls_back_in_order_of_time_then_of_arming) {
  std::size_t called = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      Game game(seed);
      game.play();
      called += game.called();
    }
  }
  BOOST_TEST(called > 2000U);
}

BOOST_AUTO_TEST_CASE(time_never_goes_back) {
  ManualClock clock;
  const TimePoint start = clock.now();
  clock.advance(Duration(10));
  clock.advance_to(start);
  BOOST_TEST((clock.now() == start + Duration(10)));
}

BOOST_AUTO_TEST_CASE(a_callback_may_arm_again) {
  asio::io_context context;
  ManualClock clock;
  const auto timer = clock.make_timer(context.get_executor());
  int ticks = 0;
  std::function<void(bool)> tick = [&](bool) {
    ++ticks;
    timer->wait_until(clock.now() + Duration(10), tick);
  };
  timer->wait_until(clock.now() + Duration(10), tick);
  for (int i = 0; i < 5; ++i) {
    clock.advance(Duration(10));
    settle(context);
  }
  BOOST_TEST(ticks == 5);
}

BOOST_AUTO_TEST_CASE(may_be_advanced_while_other_threads_use_it) {
  ManualClock clock;
  std::vector<std::thread> threads;
  std::vector<int> fired(3);
  for (int& count : fired) {
    threads.emplace_back([&clock, &count] {
      asio::io_context context;
      const auto timer = clock.make_timer(context.get_executor());
      for (int i = 0; i < 200; ++i) {
        timer->wait_until(clock.now() + Duration(5), [&count](bool expired) { count += expired; });
        if (i % 3 == 0) timer->cancel();
        if (i % 3 == 1) clock.advance(Duration(5));
        settle(context);
      }
    });
  }
  for (int i = 0; i < 2000; ++i) clock.advance(Duration(1));
  for (std::thread& thread : threads) thread.join();
  for (const int count : fired) BOOST_TEST(count > 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(steady_clock)

BOOST_AUTO_TEST_CASE(expires_cancels_and_drops) {
  SteadyClock clock;
  asio::io_context context;
  std::vector<std::string> seen;
  const auto note = [&seen](std::string what) {
    return [&seen, what](bool expired) { seen.push_back(what + (expired ? " yes" : " no")); };
  };
  const auto soon = clock.make_timer(context.get_executor());
  const auto late = clock.make_timer(context.get_executor());
  soon->wait_until(clock.now() + std::chrono::milliseconds(2), note("soon"));
  late->wait_until(clock.now() + std::chrono::hours(1), note("late"));
  late->cancel();
  BOOST_TEST(seen.empty());
  context.run();
  const std::vector<std::string> expected = {"late no", "soon yes"};
  BOOST_TEST(seen == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_destroyed_timer_never_calls_back) {
  SteadyClock clock;
  asio::io_context context;
  bool called = false;
  auto timer = clock.make_timer(context.get_executor());
  timer->wait_until(clock.now() + std::chrono::hours(1), [&called](bool) { called = true; });
  timer.reset();
  context.run();
  BOOST_TEST(!called);
}

BOOST_AUTO_TEST_CASE(does_not_run_backwards) {
  SteadyClock clock;
  TimePoint last = clock.now();
  for (int i = 0; i < 1000; ++i) {
    const TimePoint now = clock.now();
    BOOST_REQUIRE((now >= last));
    last = now;
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
