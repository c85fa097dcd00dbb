#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/store/object_store.h"
#include "rpc/node.h"
#include "test/disk/temporary_directory.h"
#include "test/support/resource_census.h"

namespace corail::test {

/// Bytes that are a function of the seed and of where they lie: neither a shift nor a mixture of
/// two contents passes for one.
std::vector<std::byte> object_bytes(std::uint64_t seed, std::uint64_t size);

/// An owner of objects and a reader in one process, each with threads of its own, over loopback
/// addresses.
class ObjectNodes {
 public:
  struct Shape {
    bool on_disks = false;  // two directories, else memory
    std::uint64_t memory_bytes = 128 * kMiB;
    std::uint64_t max_read_bytes = kMiB;
    std::uint64_t window_bytes = 4 * kMiB;
    std::size_t staging_buffers = 4;
    std::uint64_t staging_buffer_bytes = kMiB;
    std::uint64_t node_budget_bytes = 0;  // 0: no bound
    Duration keep_alive = std::chrono::seconds(5);
    std::uint32_t owner_rails = 2;
    std::uint32_t reader_rails = 2;
  };

  explicit ObjectNodes(Shape shape);
  ~ObjectNodes();

  Node& owner() { return *owner_; }
  Node& reader() { return *reader_; }
  const std::string& directory(std::size_t device) const { return directories_[device].path(); }

  /// Puts into the owner's own store.
  Result<ObjectGeneration> put(std::string key, std::uint64_t seed, std::uint64_t size,
                               std::uint64_t stripe_size = kMiB);
  /// The same in two steps, for a commit that has to come at once.
  Result<ObjectGeneration> stage(std::string key, std::uint64_t seed, std::uint64_t size);
  Result<ObjectGeneration> commit(ObjectGeneration put);
  ObjectStoreStats stats();

  Result<std::shared_ptr<Peer>> connect();
  Result<ObjectDescriptor> lookup(Peer& peer, std::string key);
  Result<ObjectView> read(Peer& peer, ObjectDescriptor object, ReadObjectOptions options);
  std::future<Result<ObjectView>> start(Peer& peer, ObjectDescriptor object,
                                        ReadObjectOptions options);
  Result<std::vector<ObjectSummary>> list(Peer& peer, ListObjectsRequest page);
  Result<ObjectGeneration> erase(Peer& peer, std::string key,
                                 std::optional<ObjectGeneration> if_generation);
  void close(Peer& peer);
  void close_owner();

  /// Leases, memory, descriptors and threads.
  ResourceCensus census();

 private:
  Task<Result<ObjectGeneration>> stage_on_home(PutRequest request, std::vector<std::byte> bytes);

  TemporaryDirectory directories_[2];
  SteadyClock clock_;
  SeededRandom owner_random_{21};
  SeededRandom reader_random_{22};
  std::unique_ptr<Node> owner_;
  std::unique_ptr<Node> reader_;
};

/// Bytes of the view that differ from the object's content, or are missing.
std::uint64_t wrong_bytes(const ObjectView& view, std::uint64_t seed,
                          const std::vector<ObjectRange>& asked);

}  // namespace corail::test
