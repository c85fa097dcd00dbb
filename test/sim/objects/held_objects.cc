#include "test/sim/objects/held_objects.h"

#include <fmt/core.h>

#include <utility>

#include "engine/store/directory_medium.h"
#include "engine/store/memory_medium.h"
#include "test/sim/objects/planted_directory.h"
#include "test/sim/objects/watched_medium.h"

namespace corail::sim {

HeldObjects::HeldObjects(const ObjectSetup& setup, Surroundings around)
    : setup_(setup), around_(std::move(around)) {}

std::string HeldObjects::directory(std::size_t device) { return fmt::format("/disk{}", device); }

Result<std::unique_ptr<ObjectMedium>> HeldObjects::make_medium(BootId boot) {
  const ObjectScenario& scenario = setup_.scenario;
  if (scenario.directories > 0) {
    DiskDirectories directories;
    for (std::size_t device = 0; device < scenario.directories; ++device) {
      directories.push_back(std::make_unique<PlantedDirectory>(
          setup_.disk.directory(directory(device)), setup_.plant));
    }
    return std::unique_ptr<ObjectMedium>(
        std::make_unique<DirectoryMedium>(std::move(directories), codec_, setup_.random));
  }
  ObjectMemoryOptions options;
  options.nodes.push_back({kAnyNumaNode, scenario.memory_bytes});
  auto memory = ObjectMemory::create(options, around_.regions);
  if (!memory) return std::move(memory).error();
  memory_ = std::move(*memory);
  return std::unique_ptr<ObjectMedium>(std::make_unique<MemoryMedium>(memory_, boot));
}

Result<void> HeldObjects::make_staging() {
  if (setup_.scenario.directories == 0) return ok_result();
  const NodeObjectOptions& told = setup_.scenario.holder.options.objects;
  PushStagingOptions options;
  options.buffers = told.staging_buffers;
  options.buffer_bytes = told.staging_buffer_bytes;
  auto staging = PushStaging::create(around_.home, options);
  if (!staging) return std::move(staging).error();
  staging_ = std::move(*staging);
  return ok_result();
}

Task<Result<void>> HeldObjects::start(const NodeIdentity& identity) {
  if (auto staged = make_staging(); !staged) co_return staged;
  auto made = make_medium(identity.boot);
  if (!made) co_return std::move(made).error();
  auto medium = std::make_unique<WatchedMedium>(std::move(*made), [this] { observe(); });
  ObjectStoreOptions options;
  options.self.id = identity.node;
  options.self.addresses.push_back(identity.name);
  // A put must not expire while its stripe is being pulled.
  options.put_ttl += setup_.scenario.holder.options.lease_ttl;
  store_ = std::make_unique<ObjectStore>(std::move(options), std::move(medium), around_.clock,
                                         around_.home, identity.boot);
  auto found = co_await store_->start();
  if (!found) {
    co_await store_->close();
    store_.reset();
    co_return std::move(found).error();
  }
  for (const Error& refused : found->refused) {
    setup_.model.journal().violate(
        0, fmt::format("a start finds an object and does not serve it: {}", refused.to_string()));
  }
  gate_ = std::make_unique<ObjectGate>(*store_, ObjectGateOptions(), around_.clock, around_.home);
  services_.emplace(ObjectServices{*store_, *gate_, staging_.get()});
  co_return ok_result();
}

void HeldObjects::observe() {
  for (std::size_t key = 0; key < kObjectKeys; ++key) {
    const auto found = store_->lookup(object_key(key));
    setup_.model.store().observe(key, found ? &(*found)->object : nullptr);
  }
}

void HeldObjects::check_idle() {
  const auto expect = [this](std::uint64_t is, std::uint64_t should, const char* what) {
    if (is == should) return;
    setup_.model.journal().violate(
        0,
        fmt::format("the store has {} {} although nobody is there, {} are due", is, what, should));
  };
  const ObjectStoreStats stats = store_->stats();
  expect(stats.leases, 0, "leases");
  expect(stats.open_puts, 0, "open puts");
  expect(stats.superseded, 0, "superseded generations");
  if (staging_) {
    expect(staging_->free_buffers(), setup_.scenario.holder.options.objects.staging_buffers,
           "free staging buffers");
  }
}

Task<void> HeldObjects::close() {
  services_.reset();
  gate_.reset();
  if (store_) co_await store_->close();
  store_.reset();
  staging_.reset();
  memory_.reset();
}

}  // namespace corail::sim
