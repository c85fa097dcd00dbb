#pragma once

#include <asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/exec/executor.h"
#include "engine/memory/region_registry.h"
#include "engine/rail/port.h"
#include "engine/store/block_store.h"
#include "rpc/connected_peer.h"
#include "rpc/port_host.h"
#include "rpc/rpc_server.h"
#include "rpc/store_gate.h"
#include "test/sim/late_clock.h"
#include "test/sim/link.h"
#include "test/sim/observing_gate.h"
#include "test/sim/scenario.h"
#include "test/sim/sim_device.h"
#include "test/sim/slow_clock.h"
#include "test/support/virtual_world.h"

namespace corail::sim {

/// What the nodes of a seed share.
struct SimSetup {
  test::VirtualWorld& world;
  Random& random;
  MockNet& net;
  Model& model;
  Plant plant;
  const Scenario& scenario;
};

/// A node made of the product's parts, put together as rpc/node.cc does, but for what lies below
/// the seams: mock ports, memory streams, virtual time. Holder and requester at once.
class SimNode {
 public:
  SimNode(SimSetup setup, std::size_t index);
  SimNode(const SimNode&) = delete;
  SimNode& operator=(const SimNode&) = delete;

  std::size_t index() const noexcept { return index_; }
  BlockStore& store() { return *store_; }
  SlabPool& pool() { return pool_; }
  const NodePlan& plan() const noexcept { return plan_; }
  std::size_t sessions() const noexcept { return server_->sessions(); }

  /// Opens the doors.
  Task<Result<void>> start();
  /// A session and rails to the holder. On a failure the link has no peer and is closed.
  Task<Result<void>> connect(Link& link, SimNode& holder);
  /// Everything of the holder's side; the peers are closed by then.
  Task<void> close();
  /// To be said before anything else.
  void meet(SimNode& other) { other_ = &other; }

  /// As when the process dies, and as when it is there again: data channels only.
  void shut_doors();
  void open_doors();
  void unstick(std::size_t link);
  /// Pads what it answers, if that is the planted bug.
  std::vector<std::byte> padding(std::span<const std::byte> written) const;

 private:
  /// A control connection to the holder, which accepts it at once.
  std::unique_ptr<ByteStream> dial(Link& link, SimNode& holder);
  void make_ports();
  std::unique_ptr<Port> make_port(std::size_t index, Link* link);
  void make_store();
  RailDraw draw_rail(std::size_t port, Link& link);

  const SimSetup setup_;
  const std::size_t index_;
  const NodePlan plan_;
  std::vector<FaultScript> scripts_;  // left of the plan's
  NodeOptions options_;               // as the product is told them
  Executor home_;
  SlowClock slow_clock_;
  LateClock late_clock_;
  Clock& lease_clock_;
  std::vector<std::unique_ptr<Executor>> rail_executors_;
  std::deque<DeviceHandles> handles_;
  std::deque<RailRecord> rails_;
  std::vector<std::unique_ptr<Port>> ports_;  // for the doors
  /// Each link's own, so that a rail that is made anew is known to be its.
  std::deque<std::vector<std::unique_ptr<Port>>> link_ports_;
  const std::shared_ptr<ConnectLimit> connects_ = std::make_shared<ConnectLimit>();
  const NodeIdentity identity_;
  RegionRegistry registry_;
  SlabPool pool_;
  std::unique_ptr<BlockStore> store_;
  std::unique_ptr<StoreGate> store_gate_;
  std::unique_ptr<PlantedGate> planted_gate_;
  std::unique_ptr<ObservingGate> gate_;
  std::unique_ptr<PortHost> port_host_;
  std::unique_ptr<ObservingHost> host_;
  std::unique_ptr<RpcServer> server_;
  std::deque<WireEars> ears_;
  std::size_t connecting_ = 0;  // the link whose rails are opened, or were the last
  SimNode* other_ = nullptr;    // the only one there is
};

}  // namespace corail::sim
