#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "rpc/node.h"
#include "test/node/two_nodes.h"
#include "test/support/resource_census.h"

namespace corail::test {

/// Bytes that tell where in which content they are.
std::vector<std::byte> put_content(std::uint64_t size, std::uint64_t seed);

/// A node that keeps objects and one that writes some, in one process, each with threads of its
/// own, over loopback addresses. The writer listens nowhere.
class PutNodes {
 public:
  struct Shape {
    std::uint32_t rails = 2;
    std::uint64_t put_bytes = kGiB;             // of both
    std::vector<std::string> directories = {};  // of the home's store; none: memory
    bool writer_listens = false;
  };

  explicit PutNodes(Shape shape);
  PutNodes() : PutNodes(Shape{}) {}
  ~PutNodes();

  template <typename T>
  static T run(Node& node, Task<T> task) {
    return TwoNodes::run(node, std::move(task));
  }

  Node& home() { return *home_; }
  Node& writer() { return *writer_; }
  std::shared_ptr<Peer> connect();
  /// The other way, where the writer listens.
  std::shared_ptr<Peer> connect_back();
  void close(Node& node, Peer& peer);
  void close_home();
  void close_writer();

  Result<std::unique_ptr<PutStream>> begin(Peer& peer, std::string key, PutOptions options);
  Result<void> write(PutStream& put, std::span<const std::byte> bytes);
  Result<ObjectDescriptor> commit(PutStream& put);
  void abort(PutStream& put);
  Result<ObjectDescriptor> put(Peer& peer, std::string key, std::span<const std::byte> bytes,
                               PutOptions options = {});

  /// What the home's store has under the key, read and verified by itself.
  Result<std::vector<std::byte>> stored(std::string key);
  ObjectStoreStats stats();

  /// Descriptors and threads, open puts and leases of the home, memory of both.
  ResourceCensus census();

 private:
  SteadyClock clock_;
  SeededRandom home_random_{41};
  SeededRandom writer_random_{42};
  std::unique_ptr<Node> home_;
  std::unique_ptr<Node> writer_;
};

}  // namespace corail::test
