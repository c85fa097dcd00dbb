#include "rpc/push_staging.h"

#include <utility>

#include "engine/base/check.h"

namespace corail {
namespace {

/// Orders that wait for a buffer, of all sessions (I8).
constexpr std::size_t kMaxWaiting = 65'536;

SlabPoolOptions pool_options(const PushStagingOptions& options) {
  SlabPoolOptions pool;
  pool.slab_bytes = options.buffers * options.buffer_bytes;
  pool.capacity_bytes = pool.slab_bytes;
  pool.registrars = options.registrars;
  return pool;
}

}  // namespace

PushStaging::PushStaging(asio::any_io_executor home, const PushStagingOptions& options)
    : pool_(pool_options(options)),
      buffers_(options.buffers),
      buffer_bytes_(options.buffer_bytes),
      turns_(std::move(home), options.buffers, kMaxWaiting) {}

Result<std::unique_ptr<PushStaging>> PushStaging::create(asio::any_io_executor home,
                                                         const PushStagingOptions& options) {
  std::unique_ptr<PushStaging> staging(new PushStaging(std::move(home), options));
  while (staging->free_.size() < options.buffers) {
    auto buffer = staging->pool_.allocate(options.buffer_bytes, kAnyNumaNode);
    if (!buffer) return std::move(buffer).error().at(Stage::kSetup);
    staging->free_.push_back(std::move(*buffer));
  }
  return staging;
}

Task<Result<SlabChunk>> PushStaging::take() {
  auto turn = co_await turns_.acquire(1);
  if (!turn) co_return std::move(turn).error();
  CORAIL_CHECK(!free_.empty(), "there is a credit for each free buffer");
  SlabChunk buffer = std::move(free_.back());
  free_.pop_back();
  co_return std::move(buffer);
}

void PushStaging::give_back(SlabChunk buffer) {
  free_.push_back(std::move(buffer));
  turns_.release(1);
}

}  // namespace corail
