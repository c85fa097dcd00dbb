#include "engine/disk/staging_pool.h"

namespace corail {

Result<std::unique_ptr<StagingPool>> StagingPool::create(asio::any_io_executor executor,
                                                         std::size_t buffers) {
  SlabOptions options;
  options.bytes = buffers * kStagingBufferBytes;
  options.numa_node = kAnyNumaNode;
  auto slab = Slab::create(options);
  if (!slab) return std::move(slab).error();
  return std::unique_ptr<StagingPool>(
      new StagingPool(std::move(executor), std::move(*slab), buffers));
}

StagingPool::StagingPool(asio::any_io_executor executor, std::unique_ptr<Slab> slab,
                         std::size_t buffers)
    : slab_(std::move(slab)), free_count_(std::move(executor), buffers, kMaxWaiters) {
  free_.reserve(buffers);
  for (std::size_t i = buffers; i-- > 0;) free_.push_back(slab_->data() + i * kStagingBufferBytes);
}

Task<Result<StagingPool::Buffer>> StagingPool::take() {
  auto mine = co_await free_count_.acquire(1);
  if (!mine) co_return std::move(mine).error();
  std::byte* const data = free_.back();
  free_.pop_back();
  co_return Buffer(*this, data);
}

void StagingPool::give_back(std::byte* data) {
  free_.push_back(data);
  free_count_.release(1);
}

}  // namespace corail
