#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/region_registry.h"
#include "engine/store/object_gate.h"
#include "engine/store/object_memory.h"
#include "engine/store/object_store.h"
#include "rpc/manifest/codec_manifest.h"
#include "rpc/messages.h"
#include "rpc/object_services.h"
#include "rpc/push_staging.h"
#include "test/sim/objects/setup.h"

namespace corail::sim {

/// The objects of the holder for one of its lives, put together as rpc/node_objects.cc does, but
/// without threads: hashes are computed at home, and disks are simulated.
class HeldObjects {
 public:
  struct Surroundings {
    asio::any_io_executor home;
    Clock& clock;  // of leases
    RegionRegistry& regions;
  };

  HeldObjects(const ObjectSetup& setup, Surroundings around);
  HeldObjects(const HeldObjects&) = delete;
  HeldObjects& operator=(const HeldObjects&) = delete;

  /// Finds what is there. After a failure it is closed already.
  Task<Result<void>> start(const NodeIdentity& identity);
  Task<void> close();

  // Between the two.
  ObjectStore& store() noexcept { return *store_; }
  const ObjectGate& gate() const noexcept { return *gate_; }
  const ObjectServices& services() const noexcept { return *services_; }

  /// Null: on directories.
  std::shared_ptr<ObjectMemory> memory() const { return memory_; }
  /// Tells the model what the store has.
  void observe();
  /// Breaks a promise where something is still in use although nobody is there.
  void check_idle();

  /// Paths of the simulated directories.
  static std::string directory(std::size_t device);

 private:
  Result<std::unique_ptr<ObjectMedium>> make_medium(BootId boot);
  Result<void> make_staging();

  const ObjectSetup setup_;
  const Surroundings around_;
  const ProtobufManifestCodec codec_;
  std::shared_ptr<ObjectMemory> memory_;  // null: on directories
  std::unique_ptr<ObjectStore> store_;
  std::unique_ptr<ObjectGate> gate_;
  std::unique_ptr<PushStaging> staging_;  // null: in memory
  std::optional<ObjectServices> services_;
};

}  // namespace corail::sim
