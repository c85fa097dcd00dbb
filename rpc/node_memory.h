#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/thread_pool.hpp>
#include <cstddef>
#include <memory>
#include <span>

#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/landing_registry.h"
#include "engine/memory/slab_pool.h"
#include "engine/rail/port.h"
#include "rpc/options.h"
#include "rpc/registered_memory.h"

namespace corail {

/// What a node's reads land in: its own slabs and what callers have registered, and the thread that
/// maps and registers both. Owned by the node. Any thread.
class NodeMemory {
 public:
  /// Nothing is mapped yet. `home` runs until stop().
  NodeMemory(const NodeOptions& options, std::span<const std::unique_ptr<Port>> ports,
             asio::any_io_executor home);

  SlabPool& pool() noexcept { return *pool_; }
  const LandingRegistry& landings() const noexcept { return *landings_; }
  asio::any_io_executor mapping() { return mapping_.get_executor(); }

  /// As Node::register_memory().
  Task<Result<RegisteredMemory>> register_memory(std::span<std::byte> bytes);

  /// Joins the thread, which has done by then all that it was given.
  void stop() { mapping_.join(); }

 private:
  const asio::any_io_executor home_;
  const std::unique_ptr<SlabPool> pool_;
  const std::shared_ptr<LandingRegistry> landings_;
  asio::thread_pool mapping_{1};
};

}  // namespace corail
