#pragma once

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "rpc/node.h"

namespace corail::test {

/// Nodes in one process, each with threads of its own, over loopback. Every one listens and holds
/// blocks that only it has: the keys are alike, the bytes tell the node.
class Cluster {
 public:
  struct Shape {
    std::uint32_t blocks = 4;
    std::uint32_t segment_bytes = 4096;
    std::uint64_t window_bytes = 256 * kKiB;
    std::uint64_t max_read_bytes = 64 * kKiB;
    std::uint32_t rails = 1;
  };

  Cluster(std::size_t nodes, Shape shape);
  ~Cluster();

  Node& node(std::size_t index) { return *nodes_[index]; }
  std::string address(std::size_t index) const { return nodes_[index]->listen_address(); }

  std::future<Result<std::shared_ptr<Peer>>> connect(std::size_t from, std::size_t to);
  std::future<Result<BlockView>> fetch(std::size_t from, Peer& peer);
  std::future<void> close_peer(std::size_t from, std::shared_ptr<Peer> peer);
  /// Nothing that was started on the node has its answer any more once close() has returned.
  std::future<void> start_close(std::size_t index);
  void close(std::size_t index);

  /// Bytes of the view that are not what this node saved.
  std::uint64_t mismatches(const BlockView& view, std::size_t holder) const;
  /// Leases that the node has given, as of now.
  std::uint64_t leases(std::size_t index);
  /// Open control connections among all nodes, by the kernel's own table: those that somebody
  /// accepted.
  std::size_t control_connections() const;

 private:
  void save(std::size_t index);

  const Shape shape_;
  SteadyClock clock_;
  std::shared_ptr<const Layout> layout_;
  std::shared_ptr<const BlockKeys> keys_;
  std::vector<std::unique_ptr<SeededRandom>> randoms_;
  std::vector<std::unique_ptr<Node>> nodes_;  // null: closed
};

}  // namespace corail::test
