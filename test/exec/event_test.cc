#include "engine/exec/event.h"

#include "engine/exec/sleep.h"
#include "test/exec/support.h"

namespace corail::test {
namespace {

Task<bool> wait_once(Event& event, bool& woke) {
  co_await event.wait();
  woke = true;
  co_return true;
}

Task<int> count_waits(Event& event, int times) {
  int count = 0;
  for (int i = 0; i < times; ++i) {
    event.notify();
    co_await event.wait();
    ++count;
  }
  co_return count;
}

Task<bool> ping_pong(Event& mine, Event& others, int times) {
  for (int i = 0; i < times; ++i) {
    co_await mine.wait();
    others.notify();
  }
  co_return true;
}

/// Owns the event that it sleeps in: a cycle that only the io_context can break.
Task<bool> sleep_for_ever(std::shared_ptr<int> token) {
  const auto executor = co_await asio::this_coro::executor;
  Event never(executor);
  co_await never.wait();
  co_return token != nullptr;
}

Task<bool> wait_then_wait_again(Event& event) {
  co_await event.wait();
  co_await event.wait();
  co_return true;
}

BOOST_AUTO_TEST_SUITE(event)

BOOST_AUTO_TEST_CASE(wakes_from_the_queue_not_from_within_notify) {
  asio::io_context context;
  Event event(context.get_executor());
  bool woke = false;
  Started<bool> waiter(context, wait_once(event, woke));
  settle(context);
  BOOST_TEST(!woke);
  bool woke_within = true;
  asio::post(context, [&] {
    event.notify();
    woke_within = woke;
  });
  settle(context);
  BOOST_TEST(!woke_within);
  BOOST_TEST(woke);
  BOOST_TEST(!event.pending());
}

BOOST_AUTO_TEST_CASE(remembers_one_notification) {
  asio::io_context context;
  Event event(context.get_executor());
  event.notify();
  event.notify();
  BOOST_TEST(event.pending());
  Started<bool> waiter(context, wait_then_wait_again(event));
  settle(context);
  BOOST_TEST(!waiter.done());
  event.notify();
  settle(context);
  BOOST_TEST(waiter.value());
}

BOOST_AUTO_TEST_CASE(a_long_loop_that_never_suspends_keeps_its_stack) {
  asio::io_context context;
  Event event(context.get_executor());
  BOOST_TEST(run(context, count_waits(event, 100000)) == 100000);
}

BOOST_AUTO_TEST_CASE(a_long_game_of_two) {
  asio::io_context context;
  Event left(context.get_executor());
  Event right(context.get_executor());
  Started<bool> one(context, ping_pong(left, right, 20000));
  Started<bool> two(context, ping_pong(right, left, 20000));
  left.notify();
  settle(context);
  BOOST_TEST(one.value());
  BOOST_TEST(two.value());
}

BOOST_AUTO_TEST_CASE(cancellation_does_not_end_the_wait) {
  asio::io_context context;
  Event event(context.get_executor());
  bool woke = false;
  Started<bool> waiter(context, wait_once(event, woke));
  settle(context);
  waiter.cancel();
  settle(context);
  BOOST_TEST(!waiter.done());
  event.notify();
  settle(context);
  BOOST_TEST(waiter.value());
}

BOOST_AUTO_TEST_CASE(the_context_destroys_frames_that_own_what_they_wait_for) {
  const auto token = std::make_shared<int>(0);
  {
    asio::io_context context;
    Started<bool> sleeper(context, sleep_for_ever(token));
    settle(context);
    BOOST_TEST(token.use_count() == 2);
  }
  BOOST_TEST(token.use_count() == 1);
}

BOOST_AUTO_TEST_CASE(destroying_an_event_abandons_its_waiter) {
  asio::io_context context;
  auto event = std::make_unique<Event>(context.get_executor());
  bool woke = false;
  Started<bool> waiter(context, wait_once(*event, woke));
  settle(context);
  event.reset();
  settle(context);
  BOOST_TEST(!woke);
  BOOST_TEST(!waiter.done());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(sleep)

BOOST_AUTO_TEST_CASE(expires_in_virtual_time) {
  ManualClock clock;
  asio::io_context context;
  const auto timer = clock.make_timer(context.get_executor());
  Started<bool> sleeper(context, sleep_until(*timer, clock.now() + std::chrono::hours(1)));
  settle(context);
  clock.advance(std::chrono::minutes(59));
  settle(context);
  BOOST_TEST(!sleeper.done());
  clock.advance(std::chrono::minutes(1));
  settle(context);
  BOOST_TEST(sleeper.value());
}

BOOST_AUTO_TEST_CASE(ends_early_when_the_timer_is_cancelled_but_not_by_asio) {
  ManualClock virtual_clock;
  SteadyClock steady_clock;
  for (Clock* clock : {static_cast<Clock*>(&virtual_clock), static_cast<Clock*>(&steady_clock)}) {
    asio::io_context context;
    const auto timer = clock->make_timer(context.get_executor());
    Started<bool> sleeper(context, sleep_until(*timer, clock->now() + std::chrono::hours(1)));
    settle(context);
    sleeper.cancel();
    settle(context);
    BOOST_TEST(!sleeper.done());
    timer->cancel();
    settle(context);
    BOOST_TEST(!sleeper.value());
  }
}

BOOST_AUTO_TEST_CASE(the_steady_clock_passes_by_itself) {
  SteadyClock clock;
  asio::io_context context;
  const auto timer = clock.make_timer(context.get_executor());
  const TimePoint when = clock.now() + std::chrono::milliseconds(5);
  BOOST_TEST(run(context, sleep_until(*timer, when)));
  BOOST_TEST((clock.now() >= when));
}

BOOST_AUTO_TEST_CASE(a_timer_or_a_context_that_goes_first_is_safe) {
  ManualClock clock;
  const auto token = std::make_shared<int>(0);
  {
    asio::io_context context;
    auto timer = clock.make_timer(context.get_executor());
    Started<bool> sleeper(context, sleep_until(*timer, clock.now() + std::chrono::hours(1)));
    settle(context);
    timer.reset();
    settle(context);
    BOOST_TEST(!sleeper.done());
  }
  TimePoint due;
  BOOST_TEST(!clock.next_due(due));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
