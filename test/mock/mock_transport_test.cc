#include "engine/rail/mock/mock_transport.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <type_traits>
#include <vector>

#include "test/support/held_blocks.h"
#include "test/support/virtual_world.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// A packet of 64 KiB takes a millisecond.
constexpr std::uint64_t kRate = 65'536'000;

/// Remembers what a transport said, and checks the order that SliceSink promises.
class Sink final : public SliceSink {
 public:
  explicit Sink(VirtualWorld& world) : world_(world) {}

  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override {
    if (from != landed[slice.tag] || from >= to || outcomes.contains(slice.tag)) orderly = false;
    landed[slice.tag] = to;
  }
  void on_outcome(const Slice& slice, Result<void> outcome) noexcept override {
    if (!outcomes.emplace(slice.tag, outcome.ok() ? Errc{} : outcome.error().code()).second) {
      orderly = false;
    }
    ended[slice.tag] = world_.now();
  }

  std::map<std::uint64_t, std::uint64_t> landed;
  std::map<std::uint64_t, Errc> outcomes;
  std::map<std::uint64_t, TimePoint> ended;
  bool orderly = true;

 private:
  VirtualWorld& world_;
};

Task<bool> close(Transport* transport) {
  co_await transport->close();
  co_return true;
}

struct Wire {
  explicit Wire(FaultScript script = FaultScript(), MockOptions options = small_options())
      : held(shape(), 1),
        holder(net, "a"),
        transport(world.executor(), world.clock(), random, net, options, std::move(script)),
        sink(world),
        memory(held.total_bytes()) {
    BOOST_TEST_REQUIRE(holder.open().ok());
    const RailEndpoint endpoint = holder.admit_session(SessionId(1), ChannelToken{}, held);
    BOOST_TEST_REQUIRE(world.run(transport.connect(endpoint, world.now() + milliseconds(9))).ok());
    begin = world.now();
  }
  ~Wire() {
    transport.unstick();
    world.run(close(&transport));
  }

  static HeldShape shape() {
    HeldShape shape;
    shape.blocks = 16;
    shape.regions = 1;
    return shape;
  }
  static MockOptions small_options() {
    MockOptions options;
    options.link.bytes_per_second = kRate;
    options.link.packet_bytes = 65'536;
    return options;
  }

  /// Packets [first, first + count) of the holder's memory as one slice, tagged `first`.
  void post(std::uint64_t first, std::uint64_t count, SliceSink& whose) {
    Slice slice;
    slice.region = RegionId(100);
    slice.remote_offset = first * 65'536;
    slice.length = count * 65'536;
    slice.destination = memory.data() + slice.remote_offset;
    slice.tag = first;
    transport.post(ReadContext{}, std::span(&slice, 1), whose);
  }
  bool arrived(std::uint64_t first, std::uint64_t count) const {
    const std::byte* there = held.segment(0, 0).data() + first * 65'536;
    return std::equal(there, there + count * 65'536, memory.data() + first * 65'536);
  }
  Result<void> fence(SliceSink& whose) {
    return world.run(transport.fence(whose, world.now() + std::chrono::seconds(1)));
  }

  VirtualWorld world;
  SeededRandom random{1};
  HeldBlocks held;
  MockNet net;
  MockHolder holder;
  MockTransport transport;
  Sink sink;
  std::vector<std::byte> memory;
  TimePoint begin{};
};

BOOST_AUTO_TEST_SUITE(mock_transport)

BOOST_AUTO_TEST_CASE(bytes_arrive_when_the_model_says) {
  Wire wire;
  wire.post(0, 4, wire.sink);
  wire.post(4, 2, wire.sink);
  BOOST_TEST(wire.sink.outcomes.empty());
  wire.world.run_until(wire.begin + microseconds(50) + milliseconds(3));
  BOOST_TEST(wire.sink.landed[0] == 3U * 65'536);
  BOOST_TEST(wire.arrived(0, 3));
  BOOST_TEST(!wire.arrived(3, 1));
  BOOST_TEST(wire.sink.outcomes.empty());
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  BOOST_TEST((wire.sink.ended[0] == wire.begin + microseconds(50) + milliseconds(4)));
  BOOST_TEST((wire.sink.ended[4] == wire.begin + microseconds(50) + milliseconds(6)));
  BOOST_TEST(wire.arrived(0, 6));
  BOOST_TEST(wire.sink.orderly);
  BOOST_TEST(wire.held.pins() == 0U);
}

BOOST_AUTO_TEST_CASE(a_fence_ends_all_its_slices_and_nothing_lands_afterwards) {
  Wire wire;
  wire.post(0, 8, wire.sink);
  wire.world.run_for(microseconds(2500));
  BOOST_TEST(wire.fence(wire.sink).ok());
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
  BOOST_TEST(wire.held.pins() == 0U);
  std::fill(wire.memory.begin(), wire.memory.end(), std::byte{0});
  wire.world.run_until_idle();
  BOOST_TEST(std::all_of(wire.memory.begin(), wire.memory.end(),
                         [](std::byte byte) { return byte == std::byte{0}; }));
  // The rail is usable right away.
  wire.post(8, 1, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[8] == Errc{}));
}

BOOST_AUTO_TEST_CASE(whose_slices_a_fence_flushes) {
  for (const bool shared : {false, true}) {
    MockOptions options = Wire::small_options();
    options.shared_fence = shared;
    Wire wire(FaultScript(), options);
    Sink other(wire.world);
    wire.post(0, 2, wire.sink);
    wire.post(2, 2, other);
    BOOST_TEST(wire.fence(wire.sink).ok());
    BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
    wire.world.run_until_idle();
    BOOST_TEST((other.outcomes[2] == (shared ? Errc::kFlushed : Errc{})));
  }
}

/// A reference into the temporary would dangle once it is bound.
BOOST_AUTO_TEST_CASE(faults_are_described_by_value) {
  static_assert(std::is_same_v<decltype(Fault(FaultKind::kLate, 0).at_packet(1)), Fault>);
  static_assert(std::is_same_v<decltype(Fault(FaultKind::kLate, 0).by(Duration(1))), Fault>);
  static_assert(std::is_same_v<decltype(Fault(FaultKind::kLate, 0).of(1)), Fault>);
  const Fault& bound = Fault(FaultKind::kLate, 4).at_packet(1).by(Duration(2)).of(3);
  BOOST_TEST(bound.slice == 4U);
  BOOST_TEST(bound.packet == 1U);
  BOOST_TEST((bound.delay == Duration(2)));
  BOOST_TEST(bound.amount == 3U);
}

BOOST_AUTO_TEST_CASE(a_fence_of_nothing_is_free) {
  Wire quiet;
  const TimePoint before = quiet.world.now();
  BOOST_TEST(quiet.fence(quiet.sink).ok());
  BOOST_TEST((quiet.world.now() == before));
}

BOOST_AUTO_TEST_CASE(a_fence_that_is_not_answered_says_so_at_its_deadline) {
  Wire wire(FaultScript().add(Fault(FaultKind::kStuckFence, 0)));
  wire.post(0, 8, wire.sink);
  const TimePoint deadline = wire.world.now() + milliseconds(3);
  const auto fenced = wire.world.run(wire.transport.fence(wire.sink, deadline));
  BOOST_TEST_REQUIRE(!fenced.ok());
  BOOST_TEST((fenced.error().code() == Errc::kStuck));
  BOOST_TEST((wire.world.now() == deadline));
  BOOST_TEST(wire.sink.outcomes.empty());
  wire.world.run(close(&wire.transport));
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
}

BOOST_AUTO_TEST_CASE(closing_ends_everything_and_so_does_posting_afterwards) {
  Wire wire;
  wire.post(0, 4, wire.sink);
  wire.world.run_for(milliseconds(2));
  wire.world.run(close(&wire.transport));
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
  BOOST_TEST(!wire.transport.usable());
  BOOST_TEST(wire.held.pins() == 0U);
  wire.post(4, 1, wire.sink);
  BOOST_TEST(!wire.sink.outcomes.contains(4));  // never from within post
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[4] == Errc::kConnectionLost));
  wire.world.run(close(&wire.transport));
}

BOOST_AUTO_TEST_CASE(the_gate_decides_when_the_request_arrives) {
  Wire wire;
  wire.post(0, 2, wire.sink);
  wire.world.run_for(microseconds(30));
  wire.held.expire();
  wire.post(2, 2, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  BOOST_TEST((wire.sink.outcomes[2] == Errc::kLeaseExpired));
  BOOST_TEST(wire.transport.usable());
}

BOOST_AUTO_TEST_CASE(a_refusal_flushes_the_others_and_kills_the_channel) {
  Wire wire(FaultScript().add(Fault(FaultKind::kRefuse, 1)));
  wire.post(0, 8, wire.sink);
  wire.world.run_for(milliseconds(1));
  wire.post(8, 1, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
  BOOST_TEST((wire.sink.outcomes[8] == Errc::kRefused));
  BOOST_TEST(!wire.transport.usable());
}

/// As with a queue pair whose path has gone: flushes are all that the slices hear of it.
BOOST_AUTO_TEST_CASE(a_cut_flushes_every_slice_and_the_rail_is_told) {
  Wire wire(FaultScript().add(Fault(FaultKind::kCut, 1).at_packet(1)));
  std::vector<Error> lost;
  std::size_t ended = 0;
  wire.transport.when_lost([&](const Error& why) {
    lost.push_back(why);
    ended = wire.sink.outcomes.size();
    BOOST_TEST(!wire.transport.usable());
  });
  for (std::uint64_t slice = 0; slice < 4; ++slice) wire.post(2 * slice, 2, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  for (const std::uint64_t tag : {2, 4, 6}) BOOST_TEST((wire.sink.outcomes[tag] == Errc::kFlushed));
  BOOST_TEST(lost.size() == 1U);
  // The outcomes came first.
  BOOST_TEST(ended == 4U);
  BOOST_TEST(wire.sink.orderly);
  wire.world.run(close(&wire.transport));
  BOOST_TEST(lost.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_holder_that_hangs_up_is_noticed_without_a_slice) {
  Wire wire;
  std::vector<Error> lost;
  wire.transport.when_lost([&](const Error& why) { lost.push_back(why); });
  wire.holder.shut();
  // On its own executor, not on the holder's thread.
  BOOST_TEST(lost.empty());
  wire.world.settle();
  BOOST_TEST_REQUIRE(lost.size() == 1U);
  BOOST_TEST((lost[0].code() == Errc::kConnectionLost));
  BOOST_TEST(!wire.transport.usable());
}

BOOST_AUTO_TEST_CASE(closing_is_no_loss) {
  Wire wire;
  std::size_t lost = 0;
  wire.transport.when_lost([&](const Error&) { ++lost; });
  wire.post(0, 4, wire.sink);
  wire.world.run(close(&wire.transport));
  wire.holder.shut();
  wire.world.settle();
  BOOST_TEST(lost == 0U);
}

BOOST_AUTO_TEST_CASE(a_stalled_slice_holds_up_nobody_else) {
  Wire wire(FaultScript().add(Fault(FaultKind::kStall, 0).at_packet(2)));
  wire.post(0, 4, wire.sink);
  wire.post(4, 2, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST(!wire.sink.outcomes.contains(0));
  BOOST_TEST(wire.sink.landed[0] == 2U * 65'536);
  BOOST_TEST((wire.sink.outcomes[4] == Errc{}));
}

BOOST_AUTO_TEST_CASE(overtaking_packets_are_reported_in_order) {
  Wire wire(FaultScript()
                .add(Fault(FaultKind::kReorder, 0).at_packet(1).by(microseconds(2500)))
                .add(Fault(FaultKind::kDuplicate, 0).at_packet(2).by(microseconds(700))));
  wire.post(0, 6, wire.sink);
  wire.world.run_until(wire.begin + microseconds(50) + milliseconds(4));
  BOOST_TEST(wire.sink.landed[0] == 65'536U);
  BOOST_TEST(wire.arrived(2, 2));
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  BOOST_TEST(wire.sink.orderly);
  BOOST_TEST(wire.arrived(0, 6));
}

BOOST_AUTO_TEST_CASE(late_duplicates_are_held_back) {
  Wire wire(FaultScript().add(Fault(FaultKind::kDuplicate, 0).at_packet(0).by(milliseconds(20))));
  wire.post(0, 2, wire.sink);
  wire.world.run_for(milliseconds(10));
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  std::fill(wire.memory.begin(), wire.memory.end(), std::byte{0});
  wire.world.run_until_idle();
  BOOST_TEST(wire.transport.counters().stale_packets == 1U);
  BOOST_TEST((wire.memory[5] == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(the_order_holds_under_random_faults) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    FaultScript script;
    for (int i = 0; i < 3; ++i) {
      Fault fault(
          static_cast<FaultKind>(random.below(static_cast<std::uint64_t>(FaultKind::kStuckFence))),
          random.below(6));
      fault.packet = random.below(4);
      fault.delay = microseconds(random.below(6000));
      fault.amount = 1 + random.below(100'000);
      script.add(std::move(fault));
    }
    Wire wire(std::move(script));
    for (std::uint64_t i = 0; i < 8; ++i) {
      wire.post(2 * i, 2, wire.sink);
      wire.world.run_for(microseconds(random.below(2000)));
    }
    wire.world.run_for(std::chrono::seconds(5));
    BOOST_TEST(wire.fence(wire.sink).ok());
    BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_TEST(wire.sink.orderly);
      BOOST_TEST(wire.sink.outcomes.size() == 8U);
      BOOST_TEST(wire.held.pins() == 0U);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
