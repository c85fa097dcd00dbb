#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/result.h"
#include "engine/exec/credits.h"
#include "engine/exec/task.h"
#include "engine/memory/memory_registrar.h"
#include "engine/memory/slab_pool.h"

namespace corail {

struct PushStagingOptions {
  std::size_t buffers = 16;
  std::uint64_t buffer_bytes = 4 * kMiB;
  MemoryRegistrars registrars{};  // devices that send from them
};

/// The pinned memory that what is pushed from disks is read into: a bounded number of buffers, for
/// all sessions of a node. First come, first served.
///
/// Owned by the node, home executor only. Nobody may wait or hold a buffer when it is destroyed.
class PushStaging {
 public:
  /// Maps and registers all of it, which blocks for a while. Fails as SlabPool::allocate.
  static Result<std::unique_ptr<PushStaging>> create(asio::any_io_executor home,
                                                     const PushStagingOptions& options);

  /// The longest order that can be staged, in bytes.
  std::uint64_t buffer_bytes() const noexcept { return buffer_bytes_; }
  /// What one session may hold at a time, so that one that is slow leaves something to the others.
  std::size_t buffers_of_session() const noexcept { return (buffers_ + 1) / 2; }

  /// A buffer, once one is free. kBusy: very many wait already.
  Task<Result<SlabChunk>> take();
  /// Nothing reads from it or writes to it any more.
  void give_back(SlabChunk buffer);

  std::size_t free_buffers() const noexcept { return free_.size(); }

 private:
  PushStaging(asio::any_io_executor home, const PushStagingOptions& options);

  SlabPool pool_;
  const std::size_t buffers_;
  const std::uint64_t buffer_bytes_;
  Credits turns_;  // one for each free buffer
  std::vector<SlabChunk> free_;
};

}  // namespace corail
