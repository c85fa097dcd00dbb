#include "engine/exec/run_on.h"

#include <stdexcept>

#include "test/exec/support.h"

namespace corail::test {
namespace {

Task<bool> is_on(Executor& where) {
  co_await yield();
  co_return where.on_thread();
}
Task<void> note_on(Executor& where, bool& there) {
  there = where.on_thread();
  co_return;
}
Task<int> fails() {
  co_await yield();
  throw std::runtime_error("on the other side");
}

struct Trip {
  bool there = false;
  bool there_void = false;
  bool back = false;
  bool back_after_exception = false;
};

Task<Trip> travel(Executor& home, Executor& away) {
  Trip trip;
  trip.there = co_await run_on(away.asio_executor(), is_on(away));
  trip.back = home.on_thread();
  co_await run_on(away.asio_executor(), note_on(away, trip.there_void));
  trip.back = trip.back && home.on_thread();
  bool caught = false;
  try {
    const int value = co_await run_on(away.asio_executor(), fails());
    trip.back = value < 0;
  } catch (const std::runtime_error&) {
    caught = true;
  }
  trip.back_after_exception = caught && home.on_thread();
  co_return trip;
}

Task<int> commute(Executor& away, int times) {
  int count = 0;
  for (int i = 0; i < times; ++i) {
    const bool there = co_await run_on(away.asio_executor(), is_on(away));
    count += there ? 1 : 0;
  }
  co_return count;
}

BOOST_AUTO_TEST_SUITE(run_on_suite)

BOOST_AUTO_TEST_CASE(hops_and_comes_back) {
  Threads threads(2);
  const Trip trip = run(threads[0], travel(threads[0], threads[1]));
  BOOST_TEST(trip.there);
  BOOST_TEST(trip.there_void);
  BOOST_TEST(trip.back);
  BOOST_TEST(trip.back_after_exception);
}

BOOST_AUTO_TEST_CASE(many_hops_in_both_directions_at_once) {
  Threads threads(2);
  auto there =
      asio::co_spawn(threads[0].asio_executor(), commute(threads[1], 2000), asio::use_future);
  auto back =
      asio::co_spawn(threads[1].asio_executor(), commute(threads[0], 2000), asio::use_future);
  BOOST_REQUIRE(there.wait_for(kHang) == std::future_status::ready);
  BOOST_REQUIRE(back.wait_for(kHang) == std::future_status::ready);
  BOOST_TEST(there.get() == 2000);
  BOOST_TEST(back.get() == 2000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
