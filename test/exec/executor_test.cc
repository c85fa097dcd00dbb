#include "engine/exec/executor.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/base/log.h"
#include "engine/base/random.h"
#include "test/base/aborts.h"
#include "test/exec/fake_poller.h"
#include "test/exec/support.h"

namespace corail::test {
namespace {

/// Runs f on the executor's thread and waits for it.
template <typename F>
void on_executor(Executor& executor, F f) {
  auto done = asio::post(executor.asio_executor(), asio::use_future(std::move(f)));
  BOOST_REQUIRE(done.wait_for(kHang) == std::future_status::ready);
  done.get();
}

template <typename F>
void wait_until(F condition) {
  const auto end = std::chrono::steady_clock::now() + kHang;
  while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  BOOST_REQUIRE(condition());
}

/// Calls itself from the queue for ever.
struct Chain {
  Chain(asio::any_io_executor where, std::shared_ptr<std::atomic<bool>> flag)
      : executor(std::move(where)), stop(std::move(flag)) {}
  asio::any_io_executor executor;
  std::shared_ptr<std::atomic<bool>> stop;
  void operator()() const {
    if (!*stop) asio::post(executor, *this);
  }
};

BOOST_AUTO_TEST_SUITE(executor)

BOOST_AUTO_TEST_CASE(finds_every_completion_asleep_or_spinning) {
  for (const Duration spin : {Duration(0), Duration(std::chrono::microseconds(200))}) {
    ExecutorOptions options;
    options.spin = spin;
    Executor executor("poll", options);
    FakePoller poller(executor);
    executor.add_poller(poller);
    executor.start();
    SeededRandom random(1);
    std::uint64_t pushed = 0;
    for (int burst = 0; burst < 300; ++burst) {
      const std::uint64_t n = 1 + random.below(40);
      poller.push(n);
      pushed += n;
      // Sometimes let it go to sleep first, sometimes race with that.
      if (random.below(2) == 0) wait_until([&] { return poller.asleep(); });
    }
    wait_until([&] { return poller.completed() == pushed; });
    on_executor(executor, [&] { executor.remove_poller(poller); });
    executor.stop();
    BOOST_TEST(poller.completed() == pushed);
  }
}

BOOST_AUTO_TEST_CASE(asleep_it_polls_no_more_but_runs_handlers) {
  ExecutorOptions options;
  options.spin = std::chrono::microseconds(50);
  Executor executor("sleeper", options);
  FakePoller poller(executor);
  executor.add_poller(poller);
  executor.start();
  poller.push(3);
  wait_until([&] { return poller.completed() == 3 && poller.asleep(); });
  std::uint64_t polls = 0;
  on_executor(executor, [&] { polls = poller.polls(); });
  for (int i = 0; i < 100; ++i) on_executor(executor, [] {});
  BOOST_TEST(poller.polls() == polls);
  poller.push(1);
  wait_until([&] { return poller.completed() == 4; });
  executor.stop();
  executor.remove_poller(poller);
}

BOOST_AUTO_TEST_CASE(a_completion_that_slips_in_while_arming_is_found) {
  for (const bool noticed : {false, true}) {
    asio::io_context context;
    Executor executor("attached", context);
    FakePoller poller(executor);
    int slips = 3;
    poller.while_arming = [&] {
      if (slips-- > 0) poller.slip_in(1);
    };
    poller.notices_slips = noticed;
    executor.add_poller(poller);
    settle(context);
    BOOST_TEST(poller.completed() == 3U);
    BOOST_TEST(poller.asleep());
    executor.remove_poller(poller);
  }
}

BOOST_AUTO_TEST_CASE(it_does_not_sleep_while_a_poller_refuses_to_be_armed) {
  asio::io_context context;
  Executor executor("attached", context);
  FakePoller refusing(executor);
  FakePoller willing(executor);
  refusing.refusals = 5;
  executor.add_poller(refusing);
  executor.add_poller(willing);
  settle(context);
  BOOST_TEST(refusing.refusals == 0);
  BOOST_TEST(refusing.asleep());
  executor.remove_poller(refusing);
  executor.remove_poller(willing);
}

BOOST_AUTO_TEST_CASE(attached_it_wakes_polls_and_sleeps_on_the_callers_context) {
  asio::io_context context;
  Executor executor("attached", context);
  executor.start();
  FakePoller first(executor);
  FakePoller second(executor);
  executor.add_poller(first);
  executor.add_poller(second);
  BOOST_TEST(!executor.on_thread());
  bool inside = false;
  asio::post(executor.asio_executor(), [&] { inside = executor.on_thread(); });
  settle(context);
  BOOST_TEST(inside);
  std::uint64_t pushed = 0;
  for (int i = 1; i < 50; ++i) {
    const auto n = static_cast<std::uint64_t>(i % 3 == 0 ? 0 : i);
    if (n > 0) first.push(n);
    second.push(1);
    pushed += n;
    settle(context);
    BOOST_REQUIRE_EQUAL(first.completed(), pushed);
    BOOST_REQUIRE_EQUAL(second.completed(), static_cast<std::uint64_t>(i));
    BOOST_REQUIRE(first.asleep());
    BOOST_REQUIRE(!first.was_forgotten());
  }
  executor.remove_poller(first);
  executor.remove_poller(second);
  executor.stop();
}

BOOST_AUTO_TEST_CASE(attached_it_may_go_before_its_context) {
  asio::io_context context;
  {
    Executor executor("attached", context);
    executor.wake();
  }
  settle(context);
}

BOOST_AUTO_TEST_CASE(pollers_may_come_and_go_during_a_pass) {
  asio::io_context context;
  Executor executor("attached", context);
  FakePoller first(executor);
  FakePoller second(executor);
  FakePoller third(executor);
  first.while_polling = [&] {
    executor.remove_poller(second);  // one that is yet to come
    executor.remove_poller(first);   // the one that is being asked
    executor.add_poller(third);
  };
  executor.add_poller(first);
  executor.add_poller(second);
  second.slip_in(1);
  third.slip_in(5);
  settle(context);
  BOOST_TEST(first.polls() == 1U);
  BOOST_TEST(second.polls() == 0U);
  BOOST_TEST(third.completed() == 5U);
  executor.remove_poller(second);  // unknown by now: nothing happens
  executor.remove_poller(third);
}

BOOST_AUTO_TEST_CASE(busy_pollers_and_busy_handlers_do_not_starve_each_other) {
  Executor executor("fair");
  FakePoller poller(executor);
  poller.while_polling = [&] { poller.slip_in(1); };  // always has one more
  executor.add_poller(poller);
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  asio::post(executor.asio_executor(), Chain(executor.asio_executor(), stop));
  executor.start();
  wait_until([&] { return poller.completed() > 1000; });
  on_executor(executor, [&] { executor.remove_poller(poller); });
  *stop = true;
  executor.stop();
}

BOOST_AUTO_TEST_CASE(knows_its_thread) {
  Threads threads(2);
  BOOST_TEST(!threads[0].on_thread());
  bool own = false;
  bool other = true;
  on_executor(threads[0], [&] {
    own = threads[0].on_thread();
    other = threads[1].on_thread();
  });
  BOOST_TEST(own);
  BOOST_TEST(!other);
}

BOOST_AUTO_TEST_CASE(stop_is_idempotent_and_needs_no_start) {
  Executor never("never");
  never.stop();
  Executor once("once");
  once.start();
  once.stop();
  once.stop();
}

BOOST_AUTO_TEST_CASE(unusable_cpus_are_no_failure) {
  set_log_level(LogLevel::kOff);
  ExecutorOptions options;
  options.cpus = {-1, 1000000};
  Executor executor("a name that is longer than a thread's may be", options);
  executor.start();
  bool ran = false;
  on_executor(executor, [&] { ran = true; });
  executor.stop();
  set_log_level(LogLevel::kWarning);
  BOOST_TEST(ran);
}

/// The slice that this thread has asked for, in ns; 0: none, or the system knows no such wish.
std::uint64_t own_slice_ns() {
  // struct sched_attr: the slice is its fourth field of 64 bits.
  std::array<std::uint64_t, 6> attributes{};
  const long got = ::syscall(SYS_sched_getattr, 0, attributes.data(), sizeof attributes, 0U);
  return got == 0 ? attributes[3] : 0;
}

BOOST_AUTO_TEST_CASE(a_thread_asks_for_its_slice_and_keeps_the_rest) {
  Executor executor("brief", brief_thread());
  executor.start();
  const int nice_here = ::getpriority(PRIO_PROCESS, 0);
  int nice_there = -1;
  std::uint64_t slice = 0;
  on_executor(executor, [&] {
    nice_there = ::getpriority(PRIO_PROCESS, 0);
    slice = own_slice_ns();
  });
  executor.stop();
  BOOST_TEST(nice_there == nice_here);
  // Before Linux 6.12 the wish is not kept.
  const bool as_asked = slice == 100'000U;
  BOOST_TEST((as_asked || slice == 0U), "the slice is " << slice << " ns");
  BOOST_TEST_MESSAGE("this system gives " << slice << " ns");
}

BOOST_AUTO_TEST_CASE(forgetting_a_poller_ends_the_process) {
  BOOST_TEST(aborts([] {
    asio::io_context context;
    auto executor = std::make_unique<Executor>("attached", context);
    FakePoller poller(*executor);
    executor->add_poller(poller);
    executor.reset();
  }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
