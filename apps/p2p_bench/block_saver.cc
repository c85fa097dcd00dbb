#include "apps/p2p_bench/block_saver.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "apps/p2p_bench/content.h"
#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/save_steps.h"

namespace corail::bench {
namespace {

/// Filling less than this takes no longer than starting the threads.
constexpr std::uint64_t kLeastBytesToShare = kMiB;

Result<Save> begin_save(Node& node, const BlocksToSave& what) {
  const Shape& shape = what.shape;
  const BlockKeys keys = make_keys(shape, what.set, what.blocks);
  const std::vector<std::string_view> hashes(keys.hashes.begin(), keys.hashes.end());
  const std::vector<std::uint32_t> parts = part_of_lanes(shape);
  std::vector<std::int32_t> nodes(shape.numa_nodes);
  for (std::uint32_t part = 0; part < shape.numa_nodes; ++part) {
    nodes[part] = static_cast<std::int32_t>(node_of_part(shape, part, what.turn));
  }
  return call_on(node.executor(), [&] {
    SaveRequest request;
    request.name_space = keys.name_space;
    request.layout = what.layout;
    request.hashes = hashes;
    request.part_of_lane = parts;
    request.part_numa = nodes;
    request.order = order_of(shape.placement);
    return node.blocks().begin(request);
  });
}

/// One saver: fills the lanes of its part and puts it.
Result<void> write_part(Save& save, const BlocksToSave& what, std::uint32_t part) {
  const Shape& shape = what.shape;
  const std::vector<std::uint32_t> parts = part_of_lanes(shape);
  for (const std::uint32_t position : save.new_blocks()) {
    for (std::uint32_t lane = 0; lane < shape.lanes(); ++lane) {
      if (parts[lane] != part) continue;
      fill_content(save.writable(position, lane),
                   CellId{shape.seed, what.set, what.blocks[position], lane});
    }
  }
  return save.put_part(part);
}

/// As many savers at a time as there are cores; each takes the next part.
Result<void> write_parts(Save& save, const BlocksToSave& what) {
  const std::uint32_t parts = what.shape.numa_nodes;
  std::atomic<std::uint32_t> next = 0;
  std::vector<Result<void>> results(parts);
  const auto work = [&] {
    for (std::uint32_t part = next++; part < parts; part = next++) {
      results[part] = write_part(save, what, part);
    }
  };
  if (what.shape.block_bytes() * save.new_blocks().size() < kLeastBytesToShare) {
    work();
  } else {
    const std::uint32_t threads =
        std::min(parts, std::max(1U, std::thread::hardware_concurrency()));
    std::vector<std::thread> savers;
    for (std::uint32_t i = 0; i < threads; ++i) savers.emplace_back(work);
    for (std::thread& saver : savers) saver.join();
  }
  for (Result<void>& result : results) {
    if (!result.ok()) return std::move(result);
  }
  return ok_result();
}

}  // namespace

Result<void> save_blocks(Node& node, const BlocksToSave& what) {
  auto begun = begin_save(node, what);
  if (!begun.ok()) return std::move(begun).error();
  std::optional<Save> save(std::move(*begun));
  auto written = write_parts(*save, what);
  // Sealing, and dropping what is not sealed, are for the home executor.
  return call_on(node.executor(), [&] {
    auto result = written.ok() ? save->seal() : std::move(written);
    save.reset();
    return result;
  });
}

}  // namespace corail::bench
