#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "engine/exec/executor.h"
#include "engine/memory/region_registry.h"
#include "engine/memory/slab_pool.h"
#include "engine/rail/connect_limit.h"
#include "engine/rail/port.h"
#include "rpc/lease_gates.h"
#include "rpc/node_peers.h"
#include "rpc/node_puts.h"
#include "rpc/port_host.h"
#include "rpc/rpc_server.h"
#include "test/sim/late_clock.h"
#include "test/sim/objects/held_objects.h"
#include "test/sim/objects/link.h"
#include "test/sim/objects/observing_doors.h"
#include "test/sim/objects/setup.h"
#include "test/sim/observing_gate.h"
#include "test/sim/sim_device.h"
#include "test/sim/slow_clock.h"

namespace corail::sim {

/// Rails that the holder opens to pull what is put, as an ObjectLink is numbered.
inline constexpr std::size_t kPullingLink = ~std::size_t{0};

/// One life of a node, made of the product's parts and put together as rpc/node.cc does, but for
/// what lies below the seams: mock ports, memory streams, simulated disks, virtual time.
class ObjectNode {
 public:
  /// `index`: kHolder or kUser.
  ObjectNode(const ObjectSetup& setup, std::size_t index);
  ObjectNode(const ObjectNode&) = delete;
  ObjectNode& operator=(const ObjectNode&) = delete;

  /// Finds the objects, if it is the holder, and opens the doors. After a failure it is closed.
  Task<Result<void>> start();
  /// A session and rails to the holder. On a failure the link has no peer and is closed.
  Task<Result<void>> connect(ObjectLink& link, ObjectNode& holder);
  /// Peers, sessions and doors. Nobody is there from then on.
  Task<void> hang_up();
  /// What is left of it.
  Task<void> close();

  /// Of the holder.
  ObjectStore& store() { return objects_->store(); }
  void observe() { objects_->observe(); }
  SlabPool& pool() noexcept { return pool_; }
  std::size_t sessions() const noexcept { return server_->sessions(); }
  void unstick(std::size_t link);
  /// After hang_up(): breaks a promise where something is still in use.
  void check_idle();

 private:
  const ObjectNodePlan& plan() const noexcept;
  void make_ports();
  std::unique_ptr<Port> make_port(std::size_t index, ObjectLink* link);
  RailDraw draw_rail(std::size_t port, ObjectLink* link);
  PeerContext peer_context(std::span<const std::unique_ptr<Port>> ports);
  void make_server();
  std::unique_ptr<ByteStream> dial(ObjectLink& link, ObjectNode& holder);

  const ObjectSetup setup_;
  const std::size_t index_;
  Executor home_;
  SlowClock slow_clock_;
  LateClock late_clock_;
  std::vector<std::unique_ptr<Executor>> rail_executors_;
  std::deque<DeviceHandles> handles_;
  std::deque<RailRecord> rails_;
  std::vector<std::unique_ptr<Port>> ports_;  // for the doors, and to pull through
  /// Each link's own, so that a rail that is made anew is known to be its.
  std::deque<std::vector<std::unique_ptr<Port>>> link_ports_;
  const std::shared_ptr<ConnectLimit> connects_ = std::make_shared<ConnectLimit>();
  const NodeIdentity identity_;
  RegionRegistry registry_;
  SlabPool pool_;
  std::shared_ptr<ObjectMemory> unpinned_;
  std::unique_ptr<HeldObjects> objects_;  // null: not the holder
  std::unique_ptr<LeaseGates> gates_;
  std::unique_ptr<NodePuts> puts_;
  std::unique_ptr<NodePeers> peers_;
  std::unique_ptr<PlantedGate> planted_gate_;
  std::unique_ptr<ServedGate> served_gate_;
  std::unique_ptr<SpoilingGate> gate_;
  std::unique_ptr<PortHost> port_host_;
  std::unique_ptr<PushObserver> host_;
  std::unique_ptr<RpcServer> server_;
  std::deque<LeaseEars> ears_;
  ObjectLink* connecting_ = nullptr;  // whose rails are opened, or were the last
};

}  // namespace corail::sim
