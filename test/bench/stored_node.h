#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "apps/p2p_bench/bench_shape.h"
#include "apps/p2p_bench/stored_sets.h"
#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "rpc/node.h"

namespace corail::bench {

/// A node of a test with a thread of its own; closed when it goes.
class StartedNode {
 public:
  explicit StartedNode(NodeOptions options);
  ~StartedNode();
  StartedNode(const StartedNode&) = delete;
  StartedNode& operator=(const StartedNode&) = delete;

  Node& node() { return *node_; }

 private:
  SteadyClock clock_;
  SystemRandom random_;
  std::unique_ptr<Node> node_;
};

/// A node that has saved the sets of a shape.
class StoredNode {
 public:
  explicit StoredNode(const Shape& shape);

  Node& node() { return started_.node(); }
  /// Where the store says that a segment lies.
  SegmentLocation locate(std::uint32_t set, std::uint32_t block, std::uint32_t lane);
  std::uint64_t address(std::uint32_t set, std::uint32_t block, std::uint32_t lane) {
    return locate(set, block, lane).address;
  }

 private:
  const Shape shape_;
  StartedNode started_;
};

}  // namespace corail::bench
