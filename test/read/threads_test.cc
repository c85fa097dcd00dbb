#include <boost/test/unit_test.hpp>
#include <future>
#include <thread>

#include "engine/base/random.h"
#include "test/support/repetitions.h"
#include "test/support/threaded_rig.h"

// Reads in real time on real threads: one per rail, and one home. What the virtual tests cannot see
// are races; ThreadSanitizer looks for them here. Nothing is asserted about time.

namespace corail::test {
namespace {

using std::chrono::microseconds;

HeldShape held_shape() {
  HeldShape shape;
  shape.blocks = 32;
  return shape;
}

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(a_read_over_threads_is_byte_exact) {
  ThreadedRig rig(held_shape(), FaultScript());
  const auto read = rig.make(CancelToken(), false);
  const auto result = rig.run(*read);
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(read->difference_to(rig.held).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(cancels_from_another_thread_at_any_time) {
  ThreadedRig rig(held_shape(), FaultScript());
  SeededRandom random(3);
  for (int round = 0; round < repetitions(30); ++round) {
    CancelToken victims_token;
    const auto victim = rig.make(victims_token, round % 2 == 0);
    const auto bystander = rig.make(CancelToken(), round % 3 == 0);
    std::promise<Result<void>> promise;
    std::thread other([&] { promise.set_value(rig.run(*bystander)); });
    const std::uint64_t wait = random.below(6000);
    std::thread canceller([&] {
      std::this_thread::sleep_for(microseconds(wait));
      victims_token.cancel();
    });
    const auto result = rig.run(*victim);
    canceller.join();
    other.join();
    const auto others = promise.get_future().get();
    BOOST_TEST(others.ok(), text_of(others));
    BOOST_TEST(bystander->difference_to(rig.held).value_or("") == "");
    if (result.ok()) {
      BOOST_TEST(victim->difference_to(rig.held).value_or("") == "");
    } else {
      BOOST_TEST((result.error().code() == Errc::kCancelled), text_of(result));
    }
    BOOST_TEST(victim->late_bytes() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(what_a_rail_gives_back_is_read_on_other_threads) {
  for (int round = 0; round < repetitions(20); ++round) {
    const auto slice = static_cast<std::uint64_t>(round % 4);
    ThreadedRig rig(held_shape(),
                    FaultScript().add(Fault(FaultKind::kCut, slice).at_packet(slice)));
    const auto read = rig.make(CancelToken(), true);
    const auto result = rig.run(*read);
    BOOST_TEST_REQUIRE(result.ok(), text_of(result));
    BOOST_TEST(read->difference_to(rig.held).value_or("") == "");
    BOOST_TEST(read->report().read_bytes == rig.held.total_bytes());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
