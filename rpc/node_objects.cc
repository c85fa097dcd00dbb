#include "rpc/node_objects.h"

#include <fmt/core.h>

#include <utility>

#include "engine/base/log.h"
#include "engine/store/directory_medium.h"
#include "engine/store/memory_medium.h"
#include "engine/store/object_memory.h"

namespace corail {

NodeObjects::NodeObjects(Parts parts, NodeObjectOptions options)
    : parts_(std::move(parts)), options_(std::move(options)) {}

Result<std::unique_ptr<ObjectMedium>> NodeObjects::make_medium(BootId boot) {
  if (!options_.directories.empty()) return open_directories();
  ObjectMemoryOptions options;
  options.nodes = {NodeCapacity{kAnyNumaNode, options_.memory_bytes}};
  options.registrars = parts_.registrars;
  auto memory = ObjectMemory::create(options, parts_.regions);
  if (!memory) return std::move(memory).error().at(Stage::kSetup);
  description_ = fmt::format("{} MiB of memory", (*memory)->capacity_bytes() / kMiB);
  return std::unique_ptr<ObjectMedium>(
      std::make_unique<MemoryMedium>(std::move(*memory), boot, workers_.get_executor()));
}

Result<std::unique_ptr<ObjectMedium>> NodeObjects::open_directories() {
  DiskAccessOptions options;
  options.threads = options_.disk_threads;
  auto disks = DiskAccess::create(parts_.home, options);
  if (!disks) return std::move(disks).error().at(Stage::kSetup);
  disks_ = std::move(*disks);
  DiskDirectories directories;
  for (const std::string& path : options_.directories) {
    auto directory = disks_->open(path);
    if (!directory) return std::move(directory).error().at(Stage::kSetup);
    directories.push_back(std::move(*directory));
  }
  description_ = fmt::format("{} directories by {}", directories.size(), disks_->describe());
  return std::unique_ptr<ObjectMedium>(std::make_unique<DirectoryMedium>(
      std::move(directories), codec_, parts_.random, workers_.get_executor()));
}

Result<void> NodeObjects::make_staging() {
  if (options_.directories.empty()) return ok_result();
  PushStagingOptions options;
  options.buffers = options_.staging_buffers;
  options.buffer_bytes = options_.staging_buffer_bytes;
  options.registrars = parts_.registrars;
  auto staging = PushStaging::create(parts_.home, options);
  if (!staging) return std::move(staging).error();
  staging_ = std::move(*staging);
  return ok_result();
}

Task<Result<std::unique_ptr<NodeObjects>>> NodeObjects::start(Parts parts,
                                                              NodeObjectOptions options,
                                                              NodeIdentity identity,
                                                              std::string address) {
  std::unique_ptr<NodeObjects> objects;
  if (options.memory_bytes == 0 && options.directories.empty()) co_return std::move(objects);
  objects.reset(new NodeObjects(std::move(parts), std::move(options)));
  auto opened = co_await objects->open(identity, std::move(address));
  if (!opened) co_return std::move(opened).error();
  co_return std::move(objects);
}

Task<Result<void>> NodeObjects::open(const NodeIdentity& identity, std::string address) {
  if (auto staged = make_staging(); !staged) co_return staged;
  auto medium = make_medium(identity.boot);
  if (!medium) co_return std::move(medium).error();
  ObjectStoreOptions options;
  options.self.id = identity.node;
  options.self.addresses.push_back(std::move(address));
  // A put must not expire while its stripe is being pulled.
  options.put_ttl += parts_.pull_time;
  options.workers = workers_.get_executor();
  store_ = std::make_unique<ObjectStore>(std::move(options), std::move(*medium), parts_.clock,
                                         parts_.home, identity.boot);
  auto found = co_await store_->start();
  if (!found) {
    co_await store_->close();
    store_.reset();
    co_return std::move(found).error().at(Stage::kSetup);
  }
  for (const Error& refused : found->refused) {
    log(LogLevel::kWarning, "an object is not served: {}", refused.to_string());
  }
  log(LogLevel::kInfo, "objects are in {}: {} found, {} not served", description_, found->objects,
      found->refused.size());
  gate_ = std::make_unique<ObjectGate>(*store_, ObjectGateOptions(), parts_.clock, parts_.home);
  services_.emplace(ObjectServices{*store_, *gate_, staging_.get()});
  co_return ok_result();
}

Task<void> NodeObjects::close() {
  services_.reset();
  gate_.reset();
  if (store_) co_await store_->close();
  store_.reset();
  staging_.reset();
  disks_.reset();
  // The store has waited for what it gave them, so that they have nothing left to do.
  workers_.join();
}

}  // namespace corail
