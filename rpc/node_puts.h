#pragma once

#include <memory>

#include "engine/base/random.h"
#include "engine/memory/memory_registrar.h"
#include "engine/memory/region_registry.h"
#include "engine/rail/rail_door.h"
#include "engine/store/object_store.h"
#include "rpc/put_context.h"
#include "rpc/put_gate.h"
#include "rpc/put_service.h"
#include "rpc/put_sources.h"
#include "rpc/reverse_peers.h"

namespace corail {

/// What a node needs for puts in either direction. Owned by the node; what it is given outlives it,
/// and it outlives peers and sessions. Home executor, but for the gate.
class NodePuts {
 public:
  struct Surroundings {
    asio::any_io_executor home;
    Clock& clock;
    Random& random;
    const NodeOptions& options;
    RegionRegistry& registry;
    MemoryRegistrars registrars;
  };

  /// `held`: the gate of what the node holds; null where it holds nothing.
  NodePuts(Surroundings surroundings, LeaseGate* held);

  /// For those that this node writes.
  PutParts& parts() noexcept { return parts_; }
  /// To all that others may read of this node.
  LeaseGate& gate() noexcept { return gate_; }
  const PutSources& sources() const noexcept { return sources_; }

  /// Takes puts of others into the store from now on. Both outlive the sessions.
  void take_into(ObjectStore& store, ReversePeers& reverse);
  /// Null before take_into().
  PutHome* home() noexcept { return home_.get(); }

 private:
  const Surroundings surroundings_;
  PutSources sources_;
  PutParts parts_;
  PutGate gate_;
  std::unique_ptr<PutHome> home_;
};

}  // namespace corail
