#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "test/support/read_rig.h"
#include "test/support/repetitions.h"

// The caller's own memory: a copy of the blocks if the read commits, untouched if not.

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
namespace data = boost::unit_test::data;

constexpr std::size_t kGuard = 4096;  // before and behind what the copy may use

HeldShape shape_of(std::uint32_t blocks, std::uint32_t gap_bytes) {
  HeldShape shape;
  shape.blocks = blocks;
  shape.gap_bytes = gap_bytes;
  return shape;
}

std::uint64_t block_bytes(const HeldShape& shape) {
  return std::uint64_t{shape.lanes} * shape.lane_bytes;
}

/// Memory as the caller has it before the fetch: content of his own in each byte.
class CallersMemory {
 public:
  explicit CallersMemory(std::uint64_t bytes)
      : bytes_(bytes + 2 * kGuard), before_(bytes_, kSeed) {}

  std::span<std::byte> destination() {
    return std::span(bytes_).subspan(kGuard, bytes_.size() - 2 * kGuard);
  }
  std::uint64_t changed_bytes() const { return before_.changed_bytes(); }
  bool guards_intact() const {
    const std::span<const std::byte> all(bytes_);
    const std::uint64_t behind = all.size() - kGuard;
    return !first_difference(all.first(kGuard), kSeed, 0) &&
           !first_difference(all.subspan(behind), kSeed, behind);
  }
  /// Bytes that are not where a dense, block-major copy has them.
  std::uint64_t wrong_bytes(const HeldBlocks& held, const HeldShape& shape) {
    std::uint64_t wrong = 0;
    std::uint64_t at = 0;
    for (std::uint32_t block = 0; block < shape.blocks; ++block) {
      for (std::uint32_t lane = 0; lane < shape.lanes; ++lane) {
        const std::span<const std::byte> expected = held.segment(block, lane);
        const std::span<const std::byte> got = destination().subspan(at, expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) wrong += expected[i] != got[i];
        at += expected.size();
      }
    }
    return wrong;
  }

 private:
  static constexpr std::uint64_t kSeed = 0xCA11E4;
  std::vector<std::byte> bytes_;
  const Canary before_;
};

/// A read with such memory.
struct CopyingRead {
  CopyingRead(const HeldShape& held_shape, std::vector<RailPlan> rails, std::uint64_t seed)
      : shape(held_shape),
        rig(shape, std::move(rails), seed),
        memory(shape.blocks * block_bytes(shape)) {
    request = rig.request();
    request.copy_on_commit = memory.destination();
    token = request.cancel;
  }

  void start() {
    read = rig.make(std::move(request));
    outcome = rig.world.start(read->run());
  }
  const Result<void>& result() const { return **outcome; }

  /// Whether the memory agrees with the outcome, now and after everything late has happened.
  void check() {
    BOOST_TEST_REQUIRE(outcome->has_value());
    BOOST_TEST(rig.complaint(*read, result()).value_or("") == "");
    if (result().ok()) {
      BOOST_TEST(memory.wrong_bytes(rig.held, shape) == 0U);
      BOOST_TEST(memory.guards_intact());
    } else {
      BOOST_TEST(memory.changed_bytes() == 0U, text_of(result()));
    }
  }

  const HeldShape shape;
  ReadRig rig;
  CallersMemory memory;
  ReadRequest request;
  CancelToken token;
  std::unique_ptr<RigRead> read;
  VirtualWorld::Outcome<Result<void>> outcome;
};

FaultScript script(Fault fault) { return FaultScript().add(std::move(fault)); }

/// Everything that a path, a device or the owner can do to a read, by number.
void spoil(CopyingRead& it, Random& random) {
  switch (random.below(5)) {
    case 0:
      it.rig.owner.confirm_answer = never_answers();
      it.request.deadline = it.rig.world.now() + milliseconds(50 + random.below(500));
      break;
    case 1:
      it.rig.owner.confirm_answer =
          OwnerAnswer(Error(Errc::kLeaseExpired, "it lapsed"), microseconds(random.below(1000)));
      break;
    case 2:
      it.request.deadline = it.rig.world.now() + microseconds(1 + random.below(30'000));
      break;
    default:
      break;
  }
}

std::vector<RailPlan> random_rails(Random& random) {
  std::vector<RailPlan> rails(1 + random.below(3));
  for (RailPlan& rail : rails) {
    rail.options.link.bytes_per_second = 50'000'000 + random.below(200'000'000);
    rail.options.shared_fence = random.below(2) == 0;
    if (random.below(3) != 0) continue;
    // Cuts, refusals, short deliveries, flipped bits, late and doubled packets, fences that hang.
    const auto kind =
        static_cast<FaultKind>(random.below(static_cast<std::uint64_t>(FaultKind::kStuckFence)));
    rail.faults = script(Fault(kind, random.below(12)).by(milliseconds(random.below(20))).of(7));
  }
  return rails;
}

BOOST_AUTO_TEST_SUITE(commit_copy)

BOOST_DATA_TEST_CASE(a_committed_read_is_copied_byte_for_byte, data::make({0, 512}), gap) {
  // More than one step of the copy, and ranges of one block each where there are gaps.
  CopyingRead it(shape_of(64, static_cast<std::uint32_t>(gap)), std::vector<RailPlan>(3), 1);
  it.start();
  it.rig.world.run_until_idle();
  it.check();
  BOOST_TEST(it.result().ok(), text_of(it.result()));
}

BOOST_AUTO_TEST_CASE(too_little_memory_is_refused_before_anything_is_posted) {
  CopyingRead it(shape_of(8, 0), std::vector<RailPlan>(1), 1);
  const std::span<std::byte> memory = it.memory.destination();
  it.request.copy_on_commit = memory.first(memory.size() - 1);
  it.start();
  it.rig.world.run_until_idle();
  it.check();
  BOOST_TEST_REQUIRE(!it.result().ok());
  BOOST_TEST((it.result().error().code() == Errc::kInvalidArgument));
  BOOST_TEST(it.rig.rails.transport(0).counters().posted == 0U);
}

/// At each step of the read, so also around the commit and during the copy itself.
BOOST_AUTO_TEST_CASE(a_cancel_at_any_step_leaves_all_or_nothing) {
  std::size_t committed = 0;
  std::size_t cancelled = 0;
  std::size_t steps = 0;
  for (bool whole = false; !whole; ++steps) {
    CopyingRead it(shape_of(40, 0), std::vector<RailPlan>(2), 1);
    it.start();
    for (std::size_t i = 0; i < steps && !it.outcome->has_value(); ++i) it.rig.world.step();
    whole = it.outcome->has_value();
    const bool was_committed = it.read->phase() == ReadPhase::kCommitted;
    it.token.cancel();
    it.rig.world.run_until_idle();
    BOOST_TEST_CONTEXT("cancelled after " << steps << " steps") {
      it.check();
      if (was_committed) BOOST_TEST(it.result().ok(), text_of(it.result()));
    }
    if (was_committed && !whole) ++committed;
    if (!it.result().ok()) ++cancelled;
  }
  BOOST_TEST_MESSAGE(steps << " steps, " << committed << " of them in the copy");
  BOOST_TEST(committed > 2U);
  BOOST_TEST(cancelled > 20U);
}

BOOST_AUTO_TEST_CASE(whatever_goes_wrong_no_byte_of_it_changes) {
  std::size_t committed = 0;
  std::size_t ended_otherwise = 0;
  const auto seeds = static_cast<std::uint64_t>(repetitions(200));
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SeededRandom random(seed);
    auto rails = random_rails(random);
    CopyingRead it(shape_of(static_cast<std::uint32_t>(4 + random.below(40)), 0), std::move(rails),
                   seed);
    spoil(it, random);
    it.start();
    if (random.below(3) == 0) {
      it.rig.world.run_for(microseconds(random.below(40'000)));
      it.token.cancel();
    }
    it.rig.world.run_until_idle();
    BOOST_TEST_CONTEXT("seed " << seed) { it.check(); }
    ++(it.result().ok() ? committed : ended_otherwise);
  }
  BOOST_TEST(committed > seeds / 10);
  BOOST_TEST(ended_otherwise > seeds / 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
