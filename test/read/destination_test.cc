// Reads that land in memory of a caller's own: never handed back while anything may write there.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "test/read/callers_destination.h"
#include "test/read/object_rig.h"
#include "test/read/push_rig.h"
#include "test/support/canary.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kSize = 8 * kMiB;

std::string text_of(const Result<void>& result) {
  return result.ok() ? "success" : result.error().to_string();
}

/// Ranges without the first stripe, in another order in memory than in the object.
ObjectDemand sparse() {
  ObjectDemand demand;
  demand.ranges = {{kMiB + kGranuleBytes, 2 * kMiB}, {5 * kMiB, kMiB}};
  demand.chunk_bytes = {kMiB, 2 * kMiB};
  demand.landings = {{{kMiB + kGranuleBytes, kMiB}, 1, kMiB},
                     {{2 * kMiB + kGranuleBytes, kMiB}, 0, 0},
                     {{5 * kMiB, kMiB}, 1, 0}};
  return demand;
}

BOOST_AUTO_TEST_SUITE(destinations)

BOOST_AUTO_TEST_CASE(what_is_pulled_lands_where_it_shall_and_nowhere_else) {
  for (const ObjectDemand& demand : {ObjectDemand::whole(kSize), sparse()}) {
    ObjectRig rig(kSize, kMiB, rails_to(2, 2));
    ReadRequest request = rig.request(demand, true);
    CallersDestination destination(request, rig.chunks);
    const auto result = rig.run(std::move(request));
    BOOST_TEST_REQUIRE(result.ok(), text_of(result));
    BOOST_TEST(rig.complaint(demand) == "");
    BOOST_TEST(destination.gaps_untouched());
    BOOST_TEST(destination.give_back());
  }
}

BOOST_AUTO_TEST_CASE(owners_may_write_into_the_destination_and_into_no_other_byte_of_the_memory) {
  for (const ObjectDemand& demand : {ObjectDemand::whole(kPushedBytes), sparse()}) {
    PushRig it(2, 2);
    ReadRequest request = it.request(demand);
    CallersDestination destination(request, it.rig.chunks);
    const auto result = it.rig.run(std::move(request));
    BOOST_TEST_REQUIRE(result.ok(), text_of(result));
    BOOST_TEST(it.rig.complaint(demand) == "");
    BOOST_TEST(destination.gaps_untouched());
    for (const auto& script : it.scripts) {
      for (const std::span<std::byte> granted : script->granted) {
        BOOST_TEST(destination.holds(granted));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(memory_of_a_cancelled_read_can_be_reused_at_once) {
  int cancelled = 0;
  for (int ms = 1; ms < 40; ++ms) {
    ObjectRig rig(kSize, kMiB, rails_to(2, 1));
    ReadRequest request = rig.request(ObjectDemand::whole(kSize), true);
    CallersDestination destination(request, rig.chunks);
    CancelToken cancel = request.cancel;
    for (const auto& owner : rig.owners) owner->lease(request.read);
    std::optional<Canary> next_owner;
    {
      ReadSession session(rig.world.executor(), rig.world.clock(), *rig.group, std::move(request));
      const auto outcome = rig.world.start(session.run(rig.report));
      rig.world.run_for(milliseconds(ms));
      cancel.cancel();
      while (!outcome->has_value()) BOOST_REQUIRE(rig.world.step());
      if ((*outcome)->ok()) continue;
      ++cancelled;
      BOOST_TEST(((*outcome)->error().code() == Errc::kCancelled), text_of(**outcome));
      next_owner.emplace(destination.bytes(), 5);
    }
    rig.world.run_until_idle();
    BOOST_TEST(next_owner->changed_bytes() == 0U);
    BOOST_TEST(destination.give_back());
  }
  BOOST_TEST(cancelled > 10);
}

BOOST_AUTO_TEST_CASE(memory_of_a_cancelled_push_can_be_reused_at_once) {
  PushRig it(2);
  for (const auto& script : it.scripts) script->latency = milliseconds(20);
  ReadRequest request = it.request();
  CallersDestination destination(request, it.rig.chunks);
  const auto result = it.give_up(std::move(request), milliseconds(5));
  BOOST_TEST((result.error().code() == Errc::kCancelled), text_of(result));
  const Canary next_owner(destination.bytes(), 5);
  it.rig.world.run_until_idle();
  BOOST_TEST(next_owner.changed_bytes() == 0U);
  BOOST_TEST(destination.give_back());
}

/// A read whose second rail answers neither the fence nor the closing.
struct StuckRead {
  explicit StuckRead(Fault fault) : rig(kSize, kMiB, plans(fault)) {
    ReadRequest request = rig.request(ObjectDemand::whole(kSize), true);
    destination = std::make_unique<CallersDestination>(request, rig.chunks);
    request.on_stuck = [this](const StuckMemory& stuck) { told.push_back(stuck); };
    cancel = request.cancel;
    rig.owners[0]->lease(request.read);
    session = std::make_unique<ReadSession>(rig.world.executor(), rig.world.clock(), *rig.group,
                                            std::move(request));
    outcome = rig.world.start(session->run(rig.report));
    rig.world.run_for(milliseconds(12));
    cancel.cancel();
  }
  static std::vector<std::vector<RailPlan>> plans(Fault fault) {
    auto rails = rails_to(1, 2);
    rails[0][1].faults.add(fault);
    rails[0][1].faults.add(Fault(FaultKind::kStuckFence, 0));
    rails[0][1].faults.add(Fault(FaultKind::kStuckClose, 0));
    return rails;
  }
  bool over() const { return outcome->has_value(); }
  /// What is told of what may still be written is right: once, of the rail that hangs.
  void check_told() {
    BOOST_REQUIRE(told.size() == 1U);
    BOOST_TEST(told[0].rail == "mock1");
    BOOST_TEST((told[0].read == ReadId(1)));
    BOOST_REQUIRE(told[0].ranges.size() == 1U);
    BOOST_TEST(told[0].ranges[0].size() > 0U);
    BOOST_TEST(destination->holds(told[0].ranges[0]));
  }
  /// The read has returned: its memory is another's from now on.
  void check_returned() {
    BOOST_REQUIRE(over());
    BOOST_REQUIRE(!(*outcome)->ok());
    // In the end it is quiescent, so that it ends for the reason why it was stopped.
    BOOST_TEST(((*outcome)->error().code() == Errc::kCancelled), text_of(**outcome));
    session.reset();
    const Canary next_owner(destination->bytes(), 6);
    rig.world.run_until_idle();
    BOOST_TEST(next_owner.changed_bytes() == 0U);
    BOOST_TEST(destination->give_back());
  }

  ObjectRig rig;
  std::unique_ptr<CallersDestination> destination;
  std::vector<StuckMemory> told;
  CancelToken cancel;
  std::unique_ptr<ReadSession> session;
  VirtualWorld::Outcome<Result<void>> outcome;
};

BOOST_AUTO_TEST_CASE(a_read_does_not_return_while_a_device_that_hangs_may_write) {
  StuckRead it(Fault(FaultKind::kStall, 1));
  it.rig.world.run_for(std::chrono::hours(24));
  BOOST_TEST(!it.over());
  it.check_told();
  BOOST_TEST(!it.destination->give_back());
  it.rig.rails[0]->transport(1).unstick();
  it.rig.world.run_until_idle();
  it.check_returned();
}

BOOST_AUTO_TEST_CASE(late_bytes_of_a_device_that_hangs_come_before_the_read_returns) {
  StuckRead it(Fault(FaultKind::kLate, 1).by(std::chrono::seconds(30)));
  it.rig.world.run_for(std::chrono::seconds(20));
  BOOST_TEST(!it.over());
  it.check_told();
  while (!it.over()) BOOST_REQUIRE(it.rig.world.step());
  BOOST_TEST(it.rig.rails[0]->transport(1).counters().stray_writes == 0U);
  it.check_returned();
  it.rig.rails[0]->transport(1).unstick();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
