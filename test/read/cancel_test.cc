#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "test/support/read_rig.h"
#include "test/support/repetitions.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
namespace data = boost::unit_test::data;

HeldShape shape_of(std::uint32_t blocks) {
  HeldShape shape;
  shape.blocks = blocks;
  return shape;
}

std::vector<RailPlan> two_rails() { return std::vector<RailPlan>(2); }

/// Their fences flush the slices of their own read only.
std::vector<RailPlan> two_rails_with_local_fences() {
  auto rails = two_rails();
  for (RailPlan& rail : rails) rail.options.shared_fence = false;
  return rails;
}

/// A read that can be cancelled.
struct Cancellable {
  Cancellable(const HeldShape& shape, std::vector<RailPlan> rails)
      : rig(shape, std::move(rails), 5) {
    ReadRequest request = rig.request();
    token = request.cancel;
    read = rig.make(std::move(request));
  }

  void start() { outcome = rig.world.start(read->run()); }
  const Result<void>& result() const { return **outcome; }

  ReadRig rig;
  CancelToken token;
  std::unique_ptr<RigRead> read;
  VirtualWorld::Outcome<Result<void>> outcome;
};

void check_cancelled(Cancellable& it) {
  BOOST_TEST_REQUIRE(it.outcome->has_value());
  BOOST_TEST_REQUIRE(!it.result().ok());
  BOOST_TEST((it.result().error().code() == Errc::kCancelled), text_of(it.result()));
  BOOST_TEST((it.read->phase() == ReadPhase::kCancelled));
  BOOST_TEST(it.rig.complaint(*it.read, it.result()).value_or("") == "");
}

BOOST_AUTO_TEST_SUITE(cancel)

BOOST_AUTO_TEST_CASE(before_the_start_nothing_is_posted) {
  Cancellable it(shape_of(16), two_rails());
  it.token.cancel();
  it.start();
  it.rig.world.run_until_idle();
  check_cancelled(it);
  BOOST_TEST(it.rig.rails.transport(0).counters().posted == 0U);
  BOOST_TEST(it.rig.rails.transport(1).counters().posted == 0U);
  BOOST_TEST(it.rig.owner.confirms == 0U);
  BOOST_TEST(it.rig.owner.releases == 1U);
}

BOOST_AUTO_TEST_CASE(in_the_middle_everybody_is_told) {
  Cancellable it(shape_of(64), two_rails_with_local_fences());
  it.start();
  it.rig.world.run_for(milliseconds(5));
  it.token.cancel();
  it.rig.world.run_until_idle();
  check_cancelled(it);
  BOOST_TEST(it.rig.owner.confirms == 0U);
  BOOST_TEST(it.rig.owner.releases == 1U);
  BOOST_TEST(it.rig.rails.transport(0).counters().fences == 1U);
  BOOST_TEST(it.rig.rails.transport(1).counters().fences == 1U);
  // Nobody is to blame.
  BOOST_TEST(it.rig.rails.rail(0).counters().errors == 0U);
  BOOST_TEST(it.read->report().rails[0].errors == 0U);
}

BOOST_AUTO_TEST_CASE(while_the_owner_is_asked) {
  Cancellable it(shape_of(16), two_rails());
  it.rig.owner.confirm_answer = OwnerAnswer(ok_result(), milliseconds(3));
  it.start();
  while (it.rig.owner.confirms == 0) it.rig.world.run_for(microseconds(100));
  BOOST_TEST((it.read->phase() == ReadPhase::kCommitting));
  it.token.cancel();
  it.rig.world.run_until_idle();
  check_cancelled(it);
  BOOST_TEST(it.rig.owner.confirms == 1U);
}

BOOST_AUTO_TEST_CASE(in_the_moment_the_owner_is_asked) {
  Cancellable it(shape_of(16), two_rails());
  it.rig.owner.on_confirm = [&] { it.token.cancel(); };
  it.start();
  it.rig.world.run_until_idle();
  check_cancelled(it);
}

BOOST_AUTO_TEST_CASE(after_the_commit_it_is_too_late) {
  Cancellable it(shape_of(16), two_rails());
  it.start();
  it.rig.world.run_until_idle();
  it.token.cancel();
  it.rig.world.run_until_idle();
  BOOST_TEST(it.result().ok());
  BOOST_TEST((it.read->phase() == ReadPhase::kCommitted));
  BOOST_TEST(it.rig.complaint(*it.read, it.result()).value_or("") == "");
}

BOOST_DATA_TEST_CASE(at_many_instants, data::make({false, true}), shared_fence) {
  auto rails = two_rails();
  for (RailPlan& rail : rails) rail.options.shared_fence = shared_fence;
  // A window per rail is 1 MiB, on the wire at 125 MB/s.
  const Duration window_time = microseconds(8389);
  Cancellable whole(shape_of(40), rails);
  const TimePoint begin = whole.rig.world.now();
  whole.start();
  whole.rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(whole.result().ok());
  const Duration all = whole.read->ended() - begin;
  constexpr int kInstants = repetitions(150);
  int committed = 0;
  for (int i = 0; i <= kInstants; ++i) {
    BOOST_TEST_CONTEXT("instant " << i) {
      Cancellable it(shape_of(40), rails);
      it.start();
      it.rig.world.run_for(all * i / (kInstants - 1));
      const TimePoint asked = it.rig.world.now();
      it.token.cancel();
      it.rig.world.run_until_idle();
      BOOST_TEST_REQUIRE(it.outcome->has_value());
      if (it.result().ok()) {
        ++committed;
        BOOST_TEST(it.rig.complaint(*it.read, it.result()).value_or("") == "");
      } else {
        check_cancelled(it);
        BOOST_TEST((it.read->ended() - asked <= 2 * microseconds(50) + 2 * window_time));
      }
    }
  }
  BOOST_TEST(committed >= 1);
  BOOST_TEST(committed < kInstants / 2);
}

BOOST_DATA_TEST_CASE(one_of_eight_leaves_seven, data::make({true, false}), shared_fence) {
  auto rails = two_rails();
  for (RailPlan& rail : rails) {
    rail.options.shared_fence = shared_fence;
    rail.window.bytes = 2 * kMiB;
  }
  ReadRig rig(shape_of(24), std::move(rails), 8);
  std::vector<std::unique_ptr<RigRead>> reads;
  std::vector<VirtualWorld::Outcome<Result<void>>> outcomes;
  CancelToken token;
  constexpr std::size_t kVictim = 3;
  for (std::size_t i = 0; i < 8; ++i) {
    ReadRequest request = rig.request();
    if (i == kVictim) request.cancel = token;
    reads.push_back(rig.make(std::move(request)));
    outcomes.push_back(rig.world.start(reads.back()->run()));
  }
  rig.world.run_for(milliseconds(12));
  token.cancel();
  rig.world.run_until_idle();
  for (std::size_t i = 0; i < 8; ++i) {
    BOOST_TEST_CONTEXT("read " << i) {
      BOOST_TEST_REQUIRE(outcomes[i]->has_value());
      const Result<void>& result = **outcomes[i];
      BOOST_TEST(result.ok() == (i != kVictim), text_of(result));
      BOOST_TEST(rig.complaint(*reads[i], result).value_or("") == "");
      if (i == kVictim) continue;
      const ReadReport& report = reads[i]->report();
      BOOST_TEST(report.read_bytes == report.needed_bytes);
      BOOST_TEST(report.verified_bytes == report.needed_bytes);
      for (const RailReport& rail : report.rails) BOOST_TEST(rail.errors == 0U);
      BOOST_TEST(report.reads_posted == report.reads_planned);
    }
  }
  // Nobody else is fenced: where the fence would be everybody's, the victim's slices land first.
  for (std::size_t rail = 0; rail < 2; ++rail) {
    BOOST_TEST(rig.rails.transport(rail).counters().fences == (shared_fence ? 0U : 1U));
    BOOST_TEST(rig.rails.rail(rail).counters().errors == 0U);
  }
}

/// A victim that does not land in time has to be fenced, and with one queue pair for all that
/// flushes the others' slices: they are posted again.
BOOST_AUTO_TEST_CASE(a_fence_of_everybody_is_somebody_elses_fault) {
  auto rails = two_rails();
  // Posted by the first read, which is the victim.
  for (RailPlan& rail : rails) rail.faults.add(Fault(FaultKind::kStall, 0));
  ReadRig rig(shape_of(256), std::move(rails), 8);
  std::vector<std::unique_ptr<RigRead>> reads;
  std::vector<VirtualWorld::Outcome<Result<void>>> outcomes;
  CancelToken token;
  for (std::size_t i = 0; i < 4; ++i) {
    ReadRequest request = rig.request();
    if (i == 0) {
      request.cancel = token;
      request.fence_deadline = milliseconds(40);
    }
    reads.push_back(rig.make(std::move(request)));
    outcomes.push_back(rig.world.start(reads.back()->run()));
  }
  rig.world.run_for(milliseconds(12));
  token.cancel();
  rig.world.run_until_idle();
  std::uint64_t again = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    BOOST_TEST_CONTEXT("read " << i) {
      BOOST_TEST_REQUIRE(outcomes[i]->has_value());
      const Result<void>& result = **outcomes[i];
      BOOST_TEST(result.ok() == (i != 0), text_of(result));
      BOOST_TEST(rig.complaint(*reads[i], result).value_or("") == "");
      if (i == 0) continue;
      const ReadReport& report = reads[i]->report();
      BOOST_TEST(report.read_bytes == report.needed_bytes);
      BOOST_TEST(report.verified_bytes == report.needed_bytes);
      for (const RailReport& rail : report.rails) BOOST_TEST(rail.errors == 0U);
      again += report.reads_posted - report.reads_planned;
    }
  }
  BOOST_TEST(again > 0U);
  for (std::size_t rail = 0; rail < 2; ++rail) {
    BOOST_TEST(rig.rails.transport(rail).counters().fences == 1U);
  }
}

BOOST_AUTO_TEST_CASE(the_deadline_does_the_same) {
  ReadRig rig(shape_of(64), two_rails_with_local_fences(), 6);
  ReadRequest request = rig.request();
  const TimePoint deadline = rig.world.now() + milliseconds(6);
  request.deadline = deadline;
  const auto read = rig.make(std::move(request));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == Errc::kDeadline));
  BOOST_TEST((read->ended() >= deadline));
  BOOST_TEST((read->ended() <= deadline + milliseconds(1)));
  BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(no_time_is_left) {
  ReadRig rig(shape_of(4), two_rails(), 6);
  ReadRequest request = rig.request();
  request.deadline = rig.world.now();
  const auto read = rig.make(std::move(request));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == Errc::kDeadline));
  BOOST_TEST(rig.rails.transport(0).counters().posted == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
