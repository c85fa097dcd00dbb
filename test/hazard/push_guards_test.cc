#include <fmt/core.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/exec/task_scope.h"
#include "engine/rail/mock/mock_transport.h"
#include "test/hazard/hasty_transport.h"
#include "test/support/canary.h"
#include "test/support/held_blocks.h"
#include "test/support/outcome_sink.h"
#include "test/support/repetitions.h"
#include "test/support/scripted_courier.h"
#include "test/support/virtual_world.h"

// The same as the guards of reads, where the owner writes: each fault without its guard and with
// it, after the slice has ended. Without it the memory's next owner finds bytes that are not his.

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// How a slice's memory comes to have another owner.
enum class Reused { kAfterFence, kAfterOutcome };

/// A rail, and an owner that serves every order and hears of no cancel.
class PushedRig {
 public:
  PushedRig(FaultScript script, bool hasty)
      : held_(shape(), 1),
        door_(net_, "owner"),
        courier_(std::make_shared<ScriptedCourier>(world_.executor())),
        serving_(world_.executor()),
        memory_(held_.total_bytes()) {
    MockOptions options;
    options.link.bytes_per_second = 65'536'000;  // a packet a millisecond
    transport_ = std::make_unique<MockTransport>(world_.executor(), world_.clock(), random_, net_,
                                                 options, std::move(script));
    if (hasty) transport_ = std::make_unique<HastyTransport>(std::move(transport_));
    BOOST_TEST_REQUIRE(door_.open().ok());
    RailEndpoint endpoint = door_.admit_session(SessionId(1), ChannelToken{}, held_);
    endpoint.courier = courier_;
    BOOST_TEST_REQUIRE(world_.run(transport_->connect(endpoint, soon())).ok());
    PushOwner owner;
    owner.door = &door_;
    owner.session = SessionId(1);
    owner.gate = &held_;
    owner.region = RegionId(100);
    serving_.spawn(serve_orders(owner, *courier_, [] { return false; }));
  }
  ~PushedRig() { world_.run(close()); }

  /// Bytes that arrive in the data of the memory's next owner.
  std::uint64_t late_bytes(Reused how, Duration when) {
    Slice slice;
    slice.destination = memory_.data();
    slice.length = memory_.size();
    slice.pushed = true;
    OutcomeSink sink(world_.executor());
    transport_->post(ReadContext{}, std::span(&slice, 1), sink);
    if (how == Reused::kAfterFence) {
      world_.run_for(when);
      BOOST_TEST(world_.run(transport_->fence(sink, soon())).ok());
    } else {
      while (sink.total() == 0) BOOST_TEST_REQUIRE(world_.step());
    }
    BOOST_TEST(sink.total() == 1U);
    const Canary next_owner(memory_, 2);
    world_.run_until_idle();
    return next_owner.changed_bytes();
  }

 private:
  static HeldShape shape() {
    HeldShape shape;
    shape.blocks = 16;
    shape.regions = 1;
    return shape;
  }
  TimePoint soon() const { return world_.now() + std::chrono::seconds(1); }

  Task<bool> close() {
    co_await transport_->close();
    courier_->hang_up();
    co_await serving_.join();
    co_await door_.close();
    co_return true;
  }

  VirtualWorld world_;
  SeededRandom random_{1};
  HeldBlocks held_;
  MockNet net_;
  MockHolder door_;
  std::shared_ptr<ScriptedCourier> courier_;
  TaskScope serving_;
  std::unique_ptr<Transport> transport_;
  std::vector<std::byte> memory_;
};

std::uint64_t total(const FaultScript& script, bool hasty, Reused how) {
  const int rounds = repetitions(20);
  std::uint64_t late = 0;
  for (int round = 0; round < rounds; ++round) {
    PushedRig rig(script, hasty);
    late += rig.late_bytes(how, microseconds(500) + milliseconds(12) * round / rounds);
  }
  return late;
}

void compare(std::string_view guard, std::uint64_t off, std::uint64_t on) {
  fmt::print("pushes, {}: off: {} late bytes; on: {} late bytes, {} rounds each\n", guard, off, on,
             repetitions(20));
  BOOST_TEST(off > 0U);
  BOOST_TEST(on == 0U);
}

BOOST_AUTO_TEST_SUITE(push_guards)

/// The guard: a fence returns when nothing is written any more. Off: it says so at once, and the
/// owner goes on.
BOOST_AUTO_TEST_CASE(a_fence_waits_until_it_is_quiescent) {
  const std::uint64_t off = total(FaultScript(), true, Reused::kAfterFence);
  const std::uint64_t on = total(FaultScript(), false, Reused::kAfterFence);
  compare("a fence waits until it is quiescent", off, on);
}

/// The guard: all of the fence. Off: the queue pair is only moved to its error state.
BOOST_AUTO_TEST_CASE(a_fence_is_the_full_one) {
  FaultScript full;
  full.add(Fault(FaultKind::kPacketAfterFence, 0).by(milliseconds(1)));
  FaultScript weak = full;
  weak.weak_fence = true;
  const std::uint64_t off = total(weak, false, Reused::kAfterFence);
  const std::uint64_t on = total(full, false, Reused::kAfterFence);
  compare("a fence is the full one", off, on);
}

/// The guard: an answer counts when every byte has been placed. Off: the owner is believed.
BOOST_AUTO_TEST_CASE(an_answer_that_overtakes_bytes_is_not_believed) {
  FaultScript doubted;
  doubted.add(Fault(FaultKind::kEarlyCompletion, 0).by(milliseconds(5)));
  FaultScript believed = doubted;
  believed.trust_completions = true;
  const std::uint64_t off = total(believed, false, Reused::kAfterOutcome);
  const std::uint64_t on = total(doubted, false, Reused::kAfterOutcome);
  compare("an answer counts when all bytes are placed", off, on);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
