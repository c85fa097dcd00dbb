#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/exec/credits.h"
#include "engine/exec/task.h"
#include "engine/memory/slab.h"

namespace corail {

/// Bytes of one staging buffer: what one request moves through one.
inline constexpr std::uint64_t kStagingBufferBytes = 4 * kMiB;

/// Page-aligned buffers for what O_DIRECT does not take as it is. As many as there are bound what
/// is staged at a time (I8): whoever finds none waits. One executor; nobody may hold or await a
/// buffer when it is destroyed.
class StagingPool {
 public:
  /// The right to one buffer; it goes back when this goes.
  class Buffer {
   public:
    Buffer(StagingPool& pool, std::byte* data) : pool_(&pool), data_(data) {}
    Buffer(Buffer&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), data_(other.data_) {}
    Buffer& operator=(Buffer&&) = delete;
    ~Buffer() {
      if (pool_ != nullptr) pool_->give_back(data_);
    }
    std::span<std::byte> bytes() const noexcept { return {data_, kStagingBufferBytes}; }

   private:
    StagingPool* pool_;
    std::byte* data_;
  };

  /// Maps the memory, which fails as Slab::create() does. `buffers` is more than 0.
  static Result<std::unique_ptr<StagingPool>> create(asio::any_io_executor executor,
                                                     std::size_t buffers);

  /// First come, first served. kBusy when very many wait already.
  Task<Result<Buffer>> take();

 private:
  static constexpr std::size_t kMaxWaiters = 65'536;

  StagingPool(asio::any_io_executor executor, std::unique_ptr<Slab> slab, std::size_t buffers);
  void give_back(std::byte* data);

  const std::unique_ptr<Slab> slab_;
  Credits free_count_;
  std::vector<std::byte*> free_;
};

}  // namespace corail
