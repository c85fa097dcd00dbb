#include "engine/exec/task_scope.h"

#include <stdexcept>

#include "engine/base/log.h"
#include "engine/base/random.h"
#include "test/base/aborts.h"
#include "test/exec/support.h"

namespace corail::test {
namespace {

Task<void> hop(int hops, int& finished) {
  for (int i = 0; i < hops; ++i) co_await yield();
  ++finished;
}

Task<void> breed(TaskScope& scope, int generations, int& finished) {
  co_await yield();
  if (generations > 0) {
    scope.spawn(breed(scope, generations - 1, finished));
    scope.spawn(breed(scope, generations - 1, finished));
  }
  ++finished;
}

Task<void> fail() {
  co_await yield();
  throw std::runtime_error("a planted exception");
}

Task<bool> spawn_and_join(std::uint64_t seed) {
  const auto here = co_await asio::this_coro::executor;
  SeededRandom random(seed);
  TaskScope scope(here);
  int spawned = 0;
  int finished = 0;
  bool all = true;
  for (int round = 0; round < 5; ++round) {
    const int count = static_cast<int>(random.below(10));
    for (int i = 0; i < count; ++i) {
      scope.spawn(hop(static_cast<int>(random.below(5)), finished));
      ++spawned;
    }
    // Sometimes all of them end before anybody joins.
    const std::uint64_t patience = random.below(12);
    for (std::uint64_t i = 0; i < patience; ++i) co_await yield();
    co_await scope.join();
    all = all && finished == spawned && scope.running() == 0;
  }
  co_return all;
}

Task<int> join_a_family(int generations) {
  const auto here = co_await asio::this_coro::executor;
  TaskScope scope(here);
  int finished = 0;
  scope.spawn(breed(scope, generations, finished));
  co_await scope.join();
  co_return finished;
}

Task<bool> survive_an_exception() {
  const auto here = co_await asio::this_coro::executor;
  TaskScope scope(here);
  scope.spawn(fail());
  int finished = 0;
  scope.spawn(hop(3, finished));
  co_await scope.join();
  co_return finished == 1;
}

Task<int> spawn_many(int times) {
  const auto here = co_await asio::this_coro::executor;
  TaskScope scope(here);
  int finished = 0;
  for (int i = 0; i < times; ++i) scope.spawn(hop(0, finished));
  co_await scope.join();
  co_return finished;
}

BOOST_AUTO_TEST_SUITE(task_scope)

BOOST_AUTO_TEST_CASE(joins_all_and_may_be_used_again) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    asio::io_context context;
    BOOST_REQUIRE(run(context, spawn_and_join(seed)));
  }
}

BOOST_AUTO_TEST_CASE(joins_tasks_that_tasks_spawn) {
  asio::io_context context;
  BOOST_TEST(run(context, join_a_family(8)) == 511);
}

BOOST_AUTO_TEST_CASE(an_exception_ends_only_its_task) {
  asio::io_context context;
  set_log_level(LogLevel::kOff);
  BOOST_TEST(run(context, survive_an_exception()));
  set_log_level(LogLevel::kWarning);
}

BOOST_AUTO_TEST_CASE(many_immediate_tasks) {
  asio::io_context context;
  BOOST_TEST(run(context, spawn_many(100000)) == 100000);
}

BOOST_AUTO_TEST_CASE(leaving_a_task_behind_ends_the_process) {
  BOOST_TEST(aborts([] {
    asio::io_context context;
    int finished = 0;
    TaskScope scope(context.get_executor());
    scope.spawn(hop(1, finished));
  }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
