#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/thread_pool.hpp>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/disk/disk_access.h"
#include "engine/exec/task.h"
#include "engine/memory/memory_registrar.h"
#include "engine/memory/region_registry.h"
#include "engine/store/object_gate.h"
#include "engine/store/object_medium.h"
#include "engine/store/object_store.h"
#include "rpc/manifest/codec_manifest.h"
#include "rpc/messages.h"
#include "rpc/object_options.h"
#include "rpc/object_services.h"
#include "rpc/push_staging.h"

namespace corail {

/// The objects of a node and what it serves them with: medium, store, leases, memory to push from.
///
/// Owned by the node, home executor only. After a start() that succeeded, close() must have
/// returned before destruction; no session may use it by then, and no door.
class NodeObjects {
 public:
  /// All outlive it.
  struct Parts {
    asio::any_io_executor home;
    Clock& clock;
    Random& random;
    RegionRegistry& regions;
    MemoryRegistrars registrars;
    Duration pull_time{};  // that a stripe of a put may take to come
  };

  /// Null where the options name no place for objects. Finds what directories have. `address` is
  /// where this node is told to be. Blocks while memory is mapped and registered. kStoreFailed,
  /// kBadManifest, kNotFound (no such directory), kBusy (another process uses it), kOutOfMemory.
  static Task<Result<std::unique_ptr<NodeObjects>>> start(Parts parts, NodeObjectOptions options,
                                                          NodeIdentity identity,
                                                          std::string address);
  Task<void> close();

  // Until close().
  ObjectStore& store() noexcept { return *store_; }
  const ObjectGate& gate() const noexcept { return *gate_; }
  const ObjectServices& services() const noexcept { return *services_; }

 private:
  NodeObjects(Parts parts, NodeObjectOptions options);

  Task<Result<void>> open(const NodeIdentity& identity, std::string address);
  Result<std::unique_ptr<ObjectMedium>> make_medium(BootId boot);
  Result<std::unique_ptr<ObjectMedium>> open_directories();
  Result<void> make_staging();

  const Parts parts_;
  const NodeObjectOptions options_;
  const ProtobufManifestCodec codec_;
  /// Hashes and copies stripes, and encodes manifests, so that home does not stand still for it.
  asio::thread_pool workers_{1};
  std::unique_ptr<DiskAccess> disks_;  // null: in memory
  std::unique_ptr<ObjectStore> store_;
  std::unique_ptr<ObjectGate> gate_;
  std::unique_ptr<PushStaging> staging_;
  std::optional<ObjectServices> services_;
  std::string description_;  // what the objects are on
};

}  // namespace corail
