#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/task_scope.h"
#include "engine/rail/mock/mock_transport.h"
#include "test/support/held_blocks.h"
#include "test/support/scripted_courier.h"
#include "test/support/virtual_world.h"

namespace corail::test {

/// A packet of 64 KiB takes a millisecond.
inline constexpr std::uint64_t kRate = 65'536'000;

/// Remembers what a transport said, and checks the order that SliceSink promises.
class Sink final : public SliceSink {
 public:
  explicit Sink(VirtualWorld& world) : world_(world) {}

  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override {
    if (from != landed[slice.tag] || from >= to || outcomes.contains(slice.tag)) orderly = false;
    landed[slice.tag] = to;
  }
  void on_receipt(const Slice& slice, const PushReceipt& receipt) noexcept override {
    if (receipt.bytes != slice.length || outcomes.contains(slice.tag)) orderly = false;
    ++receipts;
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
  std::size_t receipts = 0;
  bool orderly = true;

 private:
  VirtualWorld& world_;
};

inline Task<bool> close(Transport* transport) {
  co_await transport->close();
  co_return true;
}

inline Task<bool> join(TaskScope* scope) {
  co_await scope->join();
  co_return true;
}

/// A connected mock transport and the memory that its slices land in.
struct Wire {
  explicit Wire(FaultScript script = FaultScript(), MockOptions options = small_options())
      : held(shape(), 1),
        holder(net, "a"),
        transport(world.executor(), world.clock(), random, net, options, std::move(script)),
        courier(std::make_shared<ScriptedCourier>(world.executor())),
        serving(world.executor()),
        sink(world),
        memory(held.total_bytes()) {
    BOOST_TEST_REQUIRE(holder.open().ok());
    RailEndpoint endpoint = holder.admit_session(SessionId(1), ChannelToken{}, held);
    endpoint.courier = courier;
    BOOST_TEST_REQUIRE(
        world.run(transport.connect(endpoint, world.now() + std::chrono::milliseconds(9))).ok());
    begin = world.now();
  }
  ~Wire() {
    transport.unstick();
    world.run(close(&transport));
    courier->hang_up();
    world.run(join(&serving));
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
    post(first, count, whose, false);
  }
  /// The same, pushed by whoever serves the courier.
  void post_pushed(std::uint64_t first, std::uint64_t count, SliceSink& whose) {
    post(first, count, whose, true);
  }
  /// The holder serves what is ordered, as long as it is not `cancelled`.
  void serve() {
    serving.spawn(serve_orders(owner(), *courier, [this] { return cancelled; }));
  }
  PushOwner owner() {
    PushOwner owner;
    owner.door = &holder;
    owner.session = SessionId(1);
    owner.gate = &held;
    owner.region = RegionId(100);
    return owner;
  }
  void post(std::uint64_t first, std::uint64_t count, SliceSink& whose, bool pushed) {
    Slice slice;
    slice.pushed = pushed;
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
  std::shared_ptr<ScriptedCourier> courier;
  TaskScope serving;
  bool cancelled = false;
  Sink sink;
  std::vector<std::byte> memory;
  TimePoint begin{};
};

}  // namespace corail::test
