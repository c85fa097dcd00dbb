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

CommitCopy::CommitCopy(std::shared_ptr<const ReadPlan> plan, std::vector<std::byte*> chunk_bases,
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
  plan_->for_each_copy(from, to, [this](const ReadPlan::CopyPiece& piece) {
    std::memcpy(destination_.data() + piece.copy_offset,
                chunk_bases_[piece.chunk] + piece.chunk_offset, piece.length);
  });
}

}  // namespace corail
