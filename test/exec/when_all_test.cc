#include "engine/exec/when_all.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "test/exec/support.h"

namespace corail::test {
namespace {

enum class Ending { kValue, kError, kException };

/// What one child is told to do.
struct Script {
  int hops = 0;
  Ending ending = Ending::kValue;
};

/// What the children of one join did, and where; read after the join.
struct Watch {
  std::atomic<int> finished{0};
  std::atomic<int> off_thread{0};
};

Task<Result<int>> child(Executor& where, Script script, int index, Watch& watch) {
  for (int i = 0; i < script.hops; ++i) {
    co_await yield();
    if (!where.on_thread()) ++watch.off_thread;
  }
  ++watch.finished;
  if (script.ending == Ending::kException) {
    throw std::runtime_error("child " + std::to_string(index));
  }
  if (script.ending == Ending::kError) {
    co_return Error(Errc::kRailFailed, "child " + std::to_string(index));
  }
  co_return index;
}

struct Outcome {
  std::vector<Result<int>> results;
  std::vector<std::string> failures;  // as told to the hook
  int finished = 0;
  int off_thread = 0;
  bool hook_at_home = true;
  bool resumed_at_home = false;
};

Task<Outcome> join(Threads& threads, std::vector<Script> scripts) {
  Executor& home = threads[0];
  Watch watch;
  Outcome outcome;
  std::vector<Branch<int>> branches;
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    Executor& where = threads[i % threads.size()];
    branches.emplace_back(where.asio_executor(),
                          child(where, scripts[i], static_cast<int>(i), watch));
  }
  std::function<void(const Error&)> hook = [&](const Error& error) {
    outcome.failures.push_back(error.detail());
    outcome.hook_at_home = home.on_thread();
  };
  outcome.results = co_await when_all(std::move(branches), std::move(hook));
  outcome.finished = watch.finished;
  outcome.off_thread = watch.off_thread;
  outcome.resumed_at_home = home.on_thread();
  co_return outcome;
}

Task<Result<int>> immediate(int value) { co_return value; }

Task<std::uint64_t> join_again_and_again(int times) {
  const auto here = co_await asio::this_coro::executor;
  std::uint64_t sum = 0;
  for (int i = 0; i < times; ++i) {
    std::vector<Branch<int>> branches;
    branches.emplace_back(here, immediate(1));
    const auto results = co_await when_all(std::move(branches), nullptr);
    sum += static_cast<std::uint64_t>(*results[0]);
  }
  co_return sum;
}

Task<Result<int>> wait_for(Event& event, int value, int& finished) {
  co_await event.wait();
  ++finished;
  co_return value;
}

struct CancelledJoin {
  int finished = 0;
  std::size_t results = 0;
  bool next_await_threw = false;
};

Task<CancelledJoin> join_under_cancellation(Event& first, Event& second) {
  const auto here = co_await asio::this_coro::executor;
  CancelledJoin outcome;
  std::vector<Branch<int>> branches;
  branches.emplace_back(here, wait_for(first, 1, outcome.finished));
  branches.emplace_back(here, wait_for(second, 2, outcome.finished));
  const auto results = co_await when_all(std::move(branches), nullptr);
  outcome.results = results.size();
  try {
    co_await yield();
  } catch (const std::system_error& error) {
    outcome.next_await_threw = error.code() == asio::error::operation_aborted;
  }
  co_return outcome;
}

/// Cancels its joiner from within the call that spawns it.
Task<Result<int>> cancel_and_wait(std::function<void()> cancel, Event& event, int& finished) {
  cancel();
  co_await event.wait();
  ++finished;
  co_return 1;
}

Task<CancelledJoin> join_one_that_cancels(std::function<void()> cancel, Event& event) {
  const auto here = co_await asio::this_coro::executor;
  CancelledJoin outcome;
  std::vector<Branch<int>> branches;
  branches.emplace_back(here, cancel_and_wait(std::move(cancel), event, outcome.finished));
  const auto results = co_await when_all(std::move(branches), nullptr);
  outcome.results = results.size();
  co_return outcome;
}

Task<Result<std::unique_ptr<int>>> move_only(int value) { co_return std::make_unique<int>(value); }

Task<int> join_move_only() {
  const auto here = co_await asio::this_coro::executor;
  std::vector<Branch<std::unique_ptr<int>>> branches;
  branches.emplace_back(here, move_only(20));
  branches.emplace_back(here, move_only(22));
  auto results = co_await when_all(std::move(branches), nullptr);
  co_return **results[0] + **results[1];
}

template <typename Exception>
Task<Result<void>> fail_with(Exception exception) {
  co_await yield();
  throw exception;
}

Task<std::vector<Result<void>>> join_exceptions() {
  const auto here = co_await asio::this_coro::executor;
  const std::system_error aborted(make_error_code(asio::error::operation_aborted));
  std::vector<Branch<void>> branches;
  branches.emplace_back(here, fail_with(7));
  branches.emplace_back(here, fail_with(std::bad_alloc()));
  branches.emplace_back(here, fail_with(aborted));
  auto results = co_await when_all(std::move(branches), nullptr);
  co_return results;
}

std::vector<Script> random_scripts(SeededRandom& random) {
  std::vector<Script> scripts(random.below(12));
  const bool all_good = random.below(3) == 0;
  for (Script& script : scripts) {
    script.hops = static_cast<int>(random.below(4));
    const auto dice = random.below(6);
    if (!all_good && dice == 0) script.ending = Ending::kError;
    if (!all_good && dice == 1) script.ending = Ending::kException;
  }
  return scripts;
}

void check(const std::vector<Script>& scripts, const Outcome& outcome) {
  BOOST_REQUIRE_EQUAL(outcome.results.size(), scripts.size());
  BOOST_REQUIRE_EQUAL(outcome.finished, static_cast<int>(scripts.size()));
  BOOST_REQUIRE_EQUAL(outcome.off_thread, 0);
  BOOST_REQUIRE(outcome.resumed_at_home);
  std::vector<std::string> failed;
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const Result<int>& result = outcome.results[i];
    BOOST_REQUIRE_EQUAL(result.ok(), scripts[i].ending == Ending::kValue);
    if (result.ok()) {
      BOOST_REQUIRE_EQUAL(*result, static_cast<int>(i));
    } else {
      BOOST_REQUIRE(result.error().detail().ends_with("child " + std::to_string(i)));
      failed.push_back(result.error().detail());
    }
  }
  BOOST_REQUIRE_EQUAL(outcome.failures.size(), failed.empty() ? 0U : 1U);
  if (!failed.empty()) {
    BOOST_REQUIRE(outcome.hook_at_home);
    BOOST_REQUIRE(std::count(failed.begin(), failed.end(), outcome.failures[0]) == 1);
  }
}

BOOST_AUTO_TEST_SUITE(when_all_suite)

BOOST_AUTO_TEST_CASE(joins_children_of_three_threads) {
  Threads threads(3);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SeededRandom random(seed);
    const auto scripts = random_scripts(random);
    BOOST_TEST_CONTEXT("seed " << seed) {
      const Outcome outcome = run(threads[0], join(threads, scripts));
      check(scripts, outcome);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_empty_join_returns_at_once) {
  Threads threads(1);
  const Outcome outcome = run(threads[0], join(threads, {}));
  BOOST_TEST(outcome.results.empty());
  BOOST_TEST(outcome.failures.empty());
}

BOOST_AUTO_TEST_CASE(a_long_loop_of_immediate_children_keeps_its_stack) {
  asio::io_context context;
  BOOST_TEST(run(context, join_again_and_again(100000)) == 100000U);
}

BOOST_AUTO_TEST_CASE(a_terminal_cancellation_abandons_nobody) {
  for (const bool cancel_between : {false, true}) {
    asio::io_context context;
    Event first(context.get_executor());
    Event second(context.get_executor());
    Started<CancelledJoin> joiner(context, join_under_cancellation(first, second));
    settle(context);
    if (!cancel_between) joiner.cancel();
    settle(context);
    first.notify();
    settle(context);
    if (cancel_between) joiner.cancel();
    settle(context);
    BOOST_TEST(!joiner.done());
    second.notify();
    settle(context);
    BOOST_TEST(joiner.value().finished == 2);
    BOOST_TEST(joiner.value().results == 2U);
    BOOST_TEST(joiner.value().next_await_threw);
  }
}

BOOST_AUTO_TEST_CASE(a_cancellation_between_spawning_and_joining_abandons_nobody) {
  asio::io_context context;
  Event event(context.get_executor());
  Started<CancelledJoin>* joiner_itself = nullptr;
  Started<CancelledJoin> joiner(context,
                                join_one_that_cancels([&] { joiner_itself->cancel(); }, event));
  joiner_itself = &joiner;
  settle(context);
  BOOST_TEST(!joiner.done());
  event.notify();
  settle(context);
  BOOST_TEST(joiner.value().finished == 1);
  BOOST_TEST(joiner.value().results == 1U);
}

BOOST_AUTO_TEST_CASE(results_may_be_move_only) {
  asio::io_context context;
  BOOST_TEST(run(context, join_move_only()) == 42);
}

BOOST_AUTO_TEST_CASE(exceptions_become_errors) {
  asio::io_context context;
  const auto results = run(context, join_exceptions());
  BOOST_REQUIRE(results.size() == 3);
  BOOST_TEST((results[0].error().code() == Errc::kUnset));
  BOOST_TEST((results[1].error().code() == Errc::kOutOfMemory));
  BOOST_TEST((results[2].error().code() == Errc::kCancelled));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
