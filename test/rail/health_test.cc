#include "engine/rail/health.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A breaker with its time.
struct Patient {
  explicit Patient(const PortHealth* port = nullptr) : health(HealthOptions(), port) {}

  /// Begins and connects, as soon as that is allowed.
  void connect() {
    now = std::max(now, health.may_begin_at());
    health.connected(health.begin(now));
  }
  bool fault() { return health.fault(health.generation(), now); }
  bool flushed() { return health.flushed(health.generation(), now); }
  void succeed() { health.succeeded(health.generation(), now); }

  /// A generation that carries much and then fails.
  void fail_once() {
    connect();
    for (int i = 0; i < 1000; ++i) succeed();
    BOOST_TEST(fault());
  }

  RailHealth health;
  TimePoint now{seconds(100)};
};

const HealthOptions kNumbers;

BOOST_AUTO_TEST_SUITE(rail_health)

BOOST_AUTO_TEST_CASE(a_generation_is_one_fault_however_much_it_flushes) {
  Patient it;
  it.connect();
  BOOST_TEST(it.flushed());
  for (int i = 0; i < 100; ++i) BOOST_TEST(!it.flushed());
  BOOST_TEST(!it.fault());
  BOOST_TEST(it.health.faults() == 1U);
  BOOST_TEST((it.health.breaker() == BreakerState::kClosed));
}

BOOST_AUTO_TEST_CASE(what_our_own_fence_flushes_is_no_fault) {
  Patient it;
  it.connect();
  it.health.fence_began(it.health.generation());
  BOOST_TEST(!it.flushed());
  it.health.fence_ended(it.health.generation());
  BOOST_TEST(it.flushed());
}

BOOST_AUTO_TEST_CASE(a_refusal_excuses_what_it_flushes) {
  Patient it;
  for (int i = 0; i < 10; ++i) {
    it.connect();
    it.health.excuse(it.health.generation());
    BOOST_TEST(!it.flushed());
  }
  BOOST_TEST(it.health.faults() == 0U);
  BOOST_TEST((it.health.breaker() == BreakerState::kClosed));
}

BOOST_AUTO_TEST_CASE(successes_between_faults_do_not_save_a_rail) {
  Patient it;
  it.fail_once();
  it.fail_once();
  BOOST_TEST((it.health.breaker() == BreakerState::kClosed));
  it.fail_once();
  BOOST_TEST((it.health.breaker() == BreakerState::kOpen));
}

BOOST_AUTO_TEST_CASE(faults_that_are_far_apart_do_not_add_up) {
  Patient it;
  for (int i = 0; i < 20; ++i) {
    it.fail_once();
    it.now += kNumbers.window / 2;
  }
  BOOST_TEST((it.health.breaker() == BreakerState::kClosed));
}

BOOST_AUTO_TEST_CASE(the_back_off_doubles_up_to_its_cap_and_a_calm_window_resets_it) {
  Patient it;
  for (int i = 0; i < 3; ++i) it.fail_once();
  for (const int wait : {1, 2, 4, 8, 16, 30, 30}) {
    BOOST_TEST((it.health.may_begin_at() == it.now + seconds(wait)));
    it.connect();
    BOOST_TEST((it.health.breaker() == BreakerState::kHalfOpen));
    BOOST_TEST(it.fault());
    BOOST_TEST((it.health.breaker() == BreakerState::kOpen));
  }
  it.connect();
  it.succeed();
  BOOST_TEST((it.health.breaker() == BreakerState::kClosed));
  it.now += kNumbers.window;
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(it.fault());
    BOOST_TEST((it.health.breaker() == BreakerState::kClosed));
    it.connect();
  }
  BOOST_TEST(it.fault());
  BOOST_TEST((it.health.may_begin_at() == it.now + seconds(1)));
}

BOOST_AUTO_TEST_CASE(a_rail_that_has_just_come_back_is_on_probation) {
  Patient it;
  for (int i = 0; i < 3; ++i) it.fail_once();
  it.connect();
  it.succeed();
  BOOST_TEST(it.fault());
  BOOST_TEST((it.health.breaker() == BreakerState::kOpen));
  BOOST_TEST((it.health.may_begin_at() == it.now + seconds(2)));
}

BOOST_AUTO_TEST_CASE(failing_connects_are_tried_more_and_more_seldom) {
  Patient it;
  for (const int wait : {100, 200, 400, 800}) {
    it.now = std::max(it.now, it.health.may_begin_at());
    const std::uint64_t generation = it.health.begin(it.now);
    it.health.excuse(generation);  // say, the holder does not know the token
    BOOST_TEST((it.health.may_begin_at() == it.now + milliseconds(wait)));
  }
  it.connect();
  BOOST_TEST((it.health.may_begin_at() == it.now + milliseconds(100)));
}

BOOST_AUTO_TEST_CASE(a_port_event_is_the_ports_fault_and_counts_once) {
  PortHealth port;
  Patient first(&port);
  Patient second(&port);
  first.connect();
  second.connect();
  BOOST_TEST(port.event(false));
  for (int i = 0; i < 5; ++i) BOOST_TEST(!port.event(false));
  BOOST_TEST(!first.flushed());
  BOOST_TEST(!second.fault());
  BOOST_TEST(port.faults() == 1U);
  BOOST_TEST(first.health.faults() + second.health.faults() == 0U);
  BOOST_TEST(port.event(true));
  BOOST_TEST(!port.event(true));
  first.health.port_returned(first.now);
  first.connect();
  BOOST_TEST(first.fault());
}

BOOST_AUTO_TEST_CASE(a_port_that_returns_ends_the_wait) {
  PortHealth port;
  Patient it(&port);
  for (int i = 0; i < 3; ++i) it.fail_once();
  it.now += milliseconds(200);
  BOOST_TEST((it.health.may_begin_at() > it.now));
  it.health.port_returned(it.now);
  BOOST_TEST((it.health.may_begin_at() <= it.now));
  it.health.begin(it.now);
  BOOST_TEST((it.health.breaker() == BreakerState::kHalfOpen));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
