#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

#include "engine/base/random.h"
#include "engine/rail/health.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const HealthOptions kRules;

/// The rules again, without their economy: nothing is forgotten but by its age.
class Model {
 public:
  void begin(TimePoint now) {
    if (state == BreakerState::kOpen) state = BreakerState::kHalfOpen;
    ++generation;
    begun = now;
    ++tries;
    fences = 0;
  }
  void connected() { tries = 0; }
  void succeeded(TimePoint now) {
    if (state != BreakerState::kHalfOpen || judged.contains(generation)) return;
    state = BreakerState::kClosed;
    calm_at = now + kRules.window;
  }
  bool fault(TimePoint now) {
    if (!judged.insert(generation).second) return false;
    times.push_back(now);
    const bool half_open = state == BreakerState::kHalfOpen;
    const bool relapse = level > 0 && now < calm_at;
    if (!half_open && !relapse) level = 0;
    const auto recent = std::ranges::count_if(
        times, [&](TimePoint when) { return when > opened_at && when > now - kRules.window; });
    if (half_open || relapse || recent >= kRules.faults_to_open) {
      Duration wait = kRules.back_off;
      for (int i = 0; i < level; ++i) wait = std::min(2 * wait, kRules.max_back_off);
      ++level;
      retry_at = now + wait;
      opened_at = now;
      state = BreakerState::kOpen;
    }
    return true;
  }
  TimePoint may_begin_at() const {
    if (generation == 0) return TimePoint();
    Duration gap = kRules.rebuild_gap;
    for (int i = 1; i < tries; ++i) gap = std::min(2 * gap, kRules.max_back_off);
    return state == BreakerState::kOpen ? std::max(begun + gap, retry_at) : begun + gap;
  }

  BreakerState state = BreakerState::kClosed;
  std::uint64_t generation = 0;
  std::set<std::uint64_t> judged;
  std::vector<TimePoint> times;
  int fences = 0;

 private:
  TimePoint begun{};
  TimePoint calm_at{};
  TimePoint retry_at{};
  TimePoint opened_at{};
  int level = 0;
  int tries = 0;
};

BOOST_AUTO_TEST_SUITE(rail_health_property)

/// Random events against the model, at every step.
BOOST_AUTO_TEST_CASE(it_is_as_the_rules_say_whatever_happens) {
  std::size_t opened = 0;
  std::size_t closed_again = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    RailHealth health{HealthOptions()};
    Model model;
    TimePoint now(seconds(100));
    const std::uint64_t fault_rate = 1 + random.below(8);
    for (int step = 0; step < 2000; ++step) {
      const BreakerState before = health.breaker();
      const std::uint64_t generation = health.generation();
      switch (random.below(7)) {
        case 0:
          if (now < health.may_begin_at()) {
            now += random.below(2) == 0 ? health.may_begin_at() - now : milliseconds(50);
          }
          if (now < health.may_begin_at()) break;
          BOOST_TEST(health.begin(now) == generation + 1);
          model.begin(now);
          break;
        case 1:
          if (generation == 0 || model.judged.contains(generation)) break;
          health.connected(generation);
          model.connected();
          break;
        case 2:
          health.succeeded(generation, now);
          model.succeeded(now);
          break;
        case 3:
          if (generation == 0 || random.below(fault_rate) > 0) break;
          // Also as the flush that nobody here has asked for.
          if (model.fences == 0 && random.below(2) == 0) {
            BOOST_TEST(health.flushed(generation, now) == model.fault(now));
          } else {
            BOOST_TEST(health.fault(generation, now) == model.fault(now));
          }
          break;
        case 4:
          if (generation < 2) break;
          BOOST_TEST(!health.fault(generation - 1, now));
          health.succeeded(generation - 1, now);
          break;
        case 5:
          if (generation == 0) break;
          if (model.fences > 0) {
            BOOST_TEST(!health.flushed(generation, now));
            health.fence_ended(generation);
            --model.fences;
          } else {
            health.fence_began(generation);
            ++model.fences;
          }
          break;
        default:
          now += milliseconds(random.below(4000));
      }
      BOOST_TEST_CONTEXT("seed " << seed << ", step " << step) {
        BOOST_TEST_REQUIRE((health.breaker() == model.state));
        BOOST_TEST_REQUIRE((health.may_begin_at() == model.may_begin_at()));
        BOOST_TEST_REQUIRE(health.faults() == model.times.size());
      }
      if (before != BreakerState::kOpen && model.state == BreakerState::kOpen) ++opened;
      if (before == BreakerState::kHalfOpen && model.state == BreakerState::kClosed) ++closed_again;
      // Every way into half-open leads through open.
      BOOST_TEST(!(before == BreakerState::kClosed && model.state == BreakerState::kHalfOpen));
    }
  }
  BOOST_TEST(opened > 1000U);
  BOOST_TEST(closed_again > 300U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
