#include "engine/read/commit_copy.h"

#include <algorithm>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <cstring>
#include <functional>
#include <utility>

#include "engine/exec/when_all.h"

namespace corail {

CommitCopy::CommitCopy(std::shared_ptr<const BlockPlan> plan, std::vector<std::byte*> chunk_bases,
                       std::span<std::byte> destination, std::vector<asio::any_io_executor> where)
    : plan_(std::move(plan)),
      chunk_bases_(std::move(chunk_bases)),
      destination_(destination),
      where_(std::move(where)) {}

Task<void> CommitCopy::spread() {
  std::vector<Branch<void>> branches;
  branches.reserve(where_.size());
  for (const auto& executor : where_) branches.emplace_back(executor, work());
  // A branch that fails has copied all that it took.
  [[maybe_unused]] const auto done =
      co_await when_all(std::move(branches), std::function<void(const Error&)>());
}

void CommitCopy::finish() noexcept {
  bool more = true;
  while (more) more = step();
}

Task<Result<void>> CommitCopy::work() {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  while (step()) {
    co_await asio::post(executor, asio::use_awaitable);
  }
  co_return ok_result();
}

/// False where nothing was left to be taken.
bool CommitCopy::step() noexcept {
  const std::uint64_t from = next_.fetch_add(kCopyStepBytes, std::memory_order_relaxed);
  if (from >= plan_->total_bytes()) return false;
  copy(from, std::min(from + kCopyStepBytes, plan_->total_bytes()));
  return true;
}

void CommitCopy::copy(std::uint64_t from, std::uint64_t to) noexcept {
  const Layout& layout = plan_->layout();
  const std::span<const ChunkSpec> chunks = plan_->chunks();
  std::size_t chunk = plan_->chunk_at(from);
  plan_->for_each_segment(
      from, to,
      [&](std::uint32_t block, std::uint32_t lane, std::uint64_t linear, std::uint32_t bytes) {
        // The step's border may cut the segment; its chunk's does not.
        const std::uint64_t begin = std::max(linear, from);
        const std::uint64_t end = std::min(linear + bytes, to);
        while (linear >= chunks[chunk].linear + chunks[chunk].bytes) ++chunk;
        const std::uint64_t place =
            block * layout.block_bytes() + layout.lane_offset(lane) + (begin - linear);
        std::memcpy(destination_.data() + place,
                    chunk_bases_[chunk] + (begin - chunks[chunk].linear), end - begin);
      });
}

}  // namespace corail
