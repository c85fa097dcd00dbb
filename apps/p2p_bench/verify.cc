#include "apps/p2p_bench/verify.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "apps/p2p_bench/content.h"
#include "engine/base/units.h"

namespace corail::bench {
namespace {

constexpr std::uint32_t kMostThreads = 16;
/// Comparing less than this takes no longer than starting the threads.
constexpr std::uint64_t kLeastBytesForThreads = kMiB;

ContentCheck check_blocks(const BlockView& view, const Shape& shape, std::uint32_t set,
                          std::span<const std::uint32_t> order, LaneRange lanes, std::uint32_t from,
                          std::uint32_t to) {
  ContentCheck check;
  for (std::uint32_t position = from; position < to; ++position) {
    for (std::uint32_t lane = lanes.begin; lane < lanes.end; ++lane) {
      const auto segment = view.segment(position, lane);
      check.checked_bytes += segment.size();
      check.wrong_bytes +=
          count_mismatches(segment, CellId{shape.seed, set, order[position], lane});
    }
  }
  return check;
}

}  // namespace

ContentCheck check_content(const BlockView& view, const Shape& shape, std::uint32_t set,
                           std::span<const std::uint32_t> order, LaneRange lanes) {
  lanes.end = std::min(lanes.end, shape.lanes());
  const std::uint32_t blocks = view.blocks();
  if (view.bytes() < kLeastBytesForThreads) {
    return check_blocks(view, shape, set, order, lanes, 0, blocks);
  }
  const std::uint32_t count = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  const auto start = [&](std::uint32_t i) {
    return static_cast<std::uint32_t>(std::uint64_t{blocks} * i / count);
  };
  std::vector<ContentCheck> checks(count);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      checks[i] = check_blocks(view, shape, set, order, lanes, start(i), start(i + 1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  ContentCheck sum;
  for (const ContentCheck& check : checks) {
    sum.checked_bytes += check.checked_bytes;
    sum.wrong_bytes += check.wrong_bytes;
  }
  return sum;
}

}  // namespace corail::bench
