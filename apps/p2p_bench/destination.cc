#include "apps/p2p_bench/destination.h"

#include <algorithm>
#include <asio/this_coro.hpp>
#include <chrono>
#include <limits>
#include <utility>

#include "apps/p2p_bench/content.h"
#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/save_steps.h"
#include "engine/exec/sleep.h"

namespace corail::bench {
namespace {

/// What was in flight over a local rail has landed after that, fenced or not.
constexpr std::chrono::milliseconds kLateWriteLimit(20);

/// The content of the canary is that of no block.
constexpr std::uint32_t kCanarySet = std::numeric_limits<std::uint32_t>::max();

Task<void> wait_for_late_writes(Clock* clock) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto timer = clock->make_timer(executor);
  [[maybe_unused]] const bool expired =
      co_await sleep_until(*timer, clock->now() + kLateWriteLimit);
}

}  // namespace

Result<std::vector<SlabChunk>> allocate_like_reads(SlabPool& memory, const Shape& shape,
                                                   std::uint32_t reads) {
  const std::uint64_t most = SlabPoolOptions().slab_bytes;
  const std::vector<std::uint64_t> per_node = set_bytes_by_node(shape);
  std::vector<SlabChunk> chunks;
  for (std::uint32_t read = 0; read < reads; ++read) {
    for (std::size_t node = 0; node < per_node.size(); ++node) {
      for (std::uint64_t left = per_node[node]; left != 0;) {
        auto chunk = memory.allocate(std::min(left, most), static_cast<std::int32_t>(node));
        if (!chunk.ok()) return std::move(chunk).error();
        left -= chunk->bytes().size();
        chunks.push_back(std::move(*chunk));
      }
    }
  }
  return chunks;
}

Result<ContentCheck> check_reused_memory(Node& node, Clock& clock, const Shape& shape,
                                         std::uint32_t reads) {
  auto chunks = allocate_like_reads(node.memory(), shape, reads);
  if (!chunks.ok()) return std::move(chunks).error();
  const auto cell = [&](std::size_t i) {
    return CellId{shape.seed, kCanarySet, 0, static_cast<std::uint32_t>(i)};
  };
  for (std::size_t i = 0; i < chunks->size(); ++i) fill_content((*chunks)[i].bytes(), cell(i));
  await_on(node.executor(), wait_for_late_writes(&clock));
  ContentCheck check;
  for (std::size_t i = 0; i < chunks->size(); ++i) {
    check.checked_bytes += (*chunks)[i].bytes().size();
    check.wrong_bytes += count_mismatches((*chunks)[i].bytes(), cell(i));
  }
  return check;
}

}  // namespace corail::bench
