#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/exec/task_scope.h"
#include "test/rail/recording_sink.h"
#include "test/rail/run_task.h"
#include "test/rail/tcp_rig.h"
#include "test/support/fake_holder.h"
#include "test/support/scripted_courier.h"

namespace corail::test {

/// As slices_over(), of an object.
inline std::vector<Slice> pushed_slices_over(std::span<std::byte> target, std::uint64_t length) {
  std::vector<Slice> slices = slices_over(target, length, 0);
  for (Slice& slice : slices) {
    slice.region = RegionId(0);
    slice.pushed = true;
  }
  return slices;
}

/// That all of it was sent.
inline PushReceipt receipt_of(const PushOrder& order) {
  PushReceipt receipt;
  receipt.bytes = order.length;
  return receipt;
}

/// A requester with a courier that the test plays.
struct PushRig {
  explicit PushRig(TcpRig& own_rig)
      : rig(own_rig),
        courier(std::make_shared<ScriptedCourier>(own_rig.context.get_executor())),
        scope(own_rig.context.get_executor()),
        sink(own_rig.context.get_executor()) {}

  Task<void> connect(RailEndpoint endpoint, std::uint32_t channels) {
    transport = rig.make_transport(channels);
    endpoint.courier = courier;
    const auto connected = co_await transport->connect(endpoint, rig.soon());
    BOOST_TEST(connected.ok());
  }
  /// The rig's door and gate serve what is ordered.
  void serve() {
    scope.spawn(serve_orders(owner(), *courier, [] { return false; }));
  }
  PushOwner owner() {
    PushOwner owner;
    owner.door = &rig.door;
    owner.session = kSession;
    owner.gate = &rig.gate;
    owner.region = MemoryGate::kRegion;
    return owner;
  }
  Task<void> connect_to(FakeHolder& holder) {
    scope.spawn(holder.accept());
    co_await connect(holder.endpoint(), 1);
    co_await scope.join();
  }
  Task<void> close() {
    co_await transport->close();
    courier->hang_up();
    co_await scope.join();
    co_await rig.door.close();
    BOOST_TEST(rig.gate.pins() == 0U);
    BOOST_TEST(sink.breaches() == 0U);
  }

  TcpRig& rig;
  std::shared_ptr<ScriptedCourier> courier;
  TaskScope scope;
  RecordingSink sink;
  std::unique_ptr<TcpTransport> transport;
};

}  // namespace corail::test
