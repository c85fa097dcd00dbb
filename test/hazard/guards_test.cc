#include <fmt/core.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "test/hazard/hasty_transport.h"
#include "test/hazard/next_owner.h"
#include "test/support/read_rig.h"
#include "test/support/repetitions.h"

// What the guards are good for: the same fault without the guard and with it, after the same
// cancel. Without it the memory's next owner finds bytes that are not his; that shows that the
// check of the other half can fail.

namespace corail::test {
namespace {

using std::chrono::milliseconds;

/// What late writes have done, over some rounds.
struct Damage {
  int rounds = 0;
  std::uint64_t late_bytes = 0;
};

void print(std::string_view guard, const Damage& off, const Damage& on) {
  fmt::print("{}: off: {} rounds, {} late bytes; on: {} rounds, {} late bytes\n", guard, off.rounds,
             off.late_bytes, on.rounds, on.late_bytes);
}

/// One rail whose fence is its own read's: else the read would wait, and be quiescent before it had
/// to fence.
RailPlan one_rail() {
  RailPlan rail;
  rail.options.shared_fence = false;
  return rail;
}

/// Runs to the end of a read and no further, cancelled or not, gives its memory to the next owner,
/// and counts what arrives there late.
std::uint64_t late_bytes(ReadRig& rig, std::optional<Duration> cancel_after, bool commits) {
  ReadRequest request = rig.request();
  const ChunkPlaces places(request.chunks);
  CancelToken token = request.cancel;
  auto read = rig.make(std::move(request));
  const auto outcome = rig.world.start(read->run());
  if (cancel_after) {
    rig.world.run_for(*cancel_after);
    token.cancel();
  }
  while (!outcome->has_value()) BOOST_TEST_REQUIRE(rig.world.step());
  BOOST_TEST((**outcome).ok() == commits);
  read.reset();
  const NextOwner next_owner(rig.pool, places);
  rig.world.run_until_idle();
  return next_owner.changed_bytes();
}

/// Reads over a rail that is made so are cancelled in their middle, each a little later than the
/// one before.
Damage cancel_reads(const RailPlan& rail) {
  Damage damage;
  HeldShape shape;
  shape.blocks = 64;  // more than 30 ms on the wire
  constexpr Duration kMiddle = milliseconds(24);
  const int rounds = repetitions(20);
  while (damage.rounds < rounds) {
    ReadRig rig(shape, {rail}, 3);
    const Duration when = milliseconds(2) + kMiddle * damage.rounds / rounds;
    damage.late_bytes += late_bytes(rig, when, false);
    ++damage.rounds;
  }
  return damage;
}

BOOST_AUTO_TEST_SUITE(guards)

/// The guard: a read returns when everything that it has posted has ended. Off: its slices are said
/// to have ended when it is cancelled, and the device goes on.
BOOST_AUTO_TEST_CASE(a_cancel_waits_until_it_is_quiescent) {
  RailPlan hasty = one_rail();
  hasty.around = [](std::unique_ptr<Transport> inner) -> std::unique_ptr<Transport> {
    return std::make_unique<HastyTransport>(std::move(inner));
  };
  const Damage off = cancel_reads(hasty);
  const Damage on = cancel_reads(one_rail());
  print("a cancel waits until it is quiescent", off, on);
  BOOST_TEST(off.late_bytes > 0U);
  BOOST_TEST(on.late_bytes == 0U);
}

/// The guard: all of the fence. Off: the queue pair is only moved to its error state, which lets a
/// packet through.
BOOST_AUTO_TEST_CASE(a_fence_is_the_full_one) {
  RailPlan full = one_rail();
  full.faults.add(Fault(FaultKind::kPacketAfterFence, 0).by(milliseconds(1)));
  RailPlan weak = full;
  weak.faults.weak_fence = true;
  const Damage off = cancel_reads(weak);
  const Damage on = cancel_reads(full);
  print("a fence is the full one", off, on);
  BOOST_TEST(off.late_bytes > 0U);
  BOOST_TEST(on.late_bytes == 0U);
}

/// The guard: a completion counts when every byte of its slice has been placed. Off: it is
/// believed.
BOOST_AUTO_TEST_CASE(a_completion_that_overtakes_its_bytes_is_not_believed) {
  const auto damage_of = [](bool believed) {
    Damage damage;
    const int rounds = repetitions(20);
    while (damage.rounds < rounds) {
      RailPlan rail;
      const auto slice = static_cast<std::uint64_t>(damage.rounds % 16);
      rail.faults.add(Fault(FaultKind::kEarlyCompletion, slice).by(milliseconds(50)));
      rail.faults.trust_completions = believed;
      // Without reports of what landed nothing but the transport stands between.
      rail.options.reports_landing = false;
      HeldShape shape;
      shape.blocks = 64;
      ReadRig rig(shape, {rail}, 3);
      damage.late_bytes += late_bytes(rig, std::nullopt, !believed);
      ++damage.rounds;
    }
    return damage;
  };
  const Damage off = damage_of(true);
  const Damage on = damage_of(false);
  print("a completion is believed when all bytes are placed", off, on);
  BOOST_TEST(off.late_bytes > 0U);
  BOOST_TEST(on.late_bytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
