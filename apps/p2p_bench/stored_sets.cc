#include "apps/p2p_bench/stored_sets.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "apps/p2p_bench/content.h"
#include "apps/p2p_bench/node_call.h"

namespace corail::bench {
namespace {

/// Room for the alignment of the extents of a save.
constexpr std::uint64_t kSlackPerSet = 64 * kKiB;

Result<Save> begin_save(Node& node, const Shape& shape, const std::shared_ptr<const Layout>& layout,
                        std::uint32_t set) {
  const BlockKeys keys = make_keys(shape, set);
  const std::vector<std::string_view> hashes(keys.hashes.begin(), keys.hashes.end());
  const std::vector<std::uint32_t> parts = part_of_lanes(shape);
  std::vector<std::int32_t> nodes(shape.numa_nodes);
  for (std::uint32_t i = 0; i < shape.numa_nodes; ++i) nodes[i] = static_cast<std::int32_t>(i);
  return call_on(node.executor(), [&] {
    SaveRequest request;
    request.name_space = keys.name_space;
    request.layout = layout;
    request.hashes = hashes;
    request.part_of_lane = parts;
    request.part_numa = nodes;
    request.order = shape.order;
    return node.blocks().begin(request);
  });
}

/// One saver: fills the lanes of its part and puts it.
Result<void> write_part(Save& save, const Shape& shape, std::uint32_t set, std::uint32_t part) {
  const std::vector<std::uint32_t> parts = part_of_lanes(shape);
  for (std::uint32_t block = 0; block < shape.blocks; ++block) {
    for (std::uint32_t lane = 0; lane < shape.lanes(); ++lane) {
      if (parts[lane] != part) continue;
      fill_content(save.writable(block, lane), CellId{shape.seed, set, block, lane});
    }
  }
  return save.put_part(part);
}

/// As many savers at a time as there are cores; each takes the next part.
Result<void> write_parts(Save& save, const Shape& shape, std::uint32_t set) {
  const std::uint32_t threads =
      std::min(shape.numa_nodes, std::max(1U, std::thread::hardware_concurrency()));
  std::atomic<std::uint32_t> next = 0;
  std::vector<Result<void>> results(shape.numa_nodes);
  const auto work = [&] {
    for (std::uint32_t part = next++; part < shape.numa_nodes; part = next++) {
      results[part] = write_part(save, shape, set, part);
    }
  };
  std::vector<std::thread> savers;
  for (std::uint32_t i = 0; i < threads; ++i) savers.emplace_back(work);
  for (std::thread& saver : savers) saver.join();
  for (Result<void>& result : results) {
    if (!result.ok()) return std::move(result);
  }
  return ok_result();
}

SourceMemory memory_of(const Save& save, const Shape& shape) {
  SourceMemory segments;
  segments.reserve(std::size_t{shape.blocks} * shape.lanes());
  for (std::uint32_t block = 0; block < shape.blocks; ++block) {
    for (std::uint32_t lane = 0; lane < shape.lanes(); ++lane) {
      segments.emplace_back(save.writable(block, lane));
    }
  }
  std::ranges::sort(segments, {}, [](const auto& segment) { return segment.data(); });
  SourceMemory joined;
  for (const auto& segment : segments) {
    const bool abuts =
        !joined.empty() && joined.back().data() + joined.back().size() == segment.data();
    if (abuts) {
      joined.back() = {joined.back().data(), joined.back().size() + segment.size()};
    } else {
      joined.push_back(segment);
    }
  }
  return joined;
}

Result<SourceMemory> save_set(Node& node, const Shape& shape,
                              const std::shared_ptr<const Layout>& layout, std::uint32_t set) {
  auto begun = begin_save(node, shape, layout, set);
  if (!begun.ok()) return std::move(begun).error();
  std::optional<Save> save(std::move(*begun));
  auto written = write_parts(*save, shape, set);
  SourceMemory memory;
  if (written.ok()) memory = memory_of(*save, shape);
  // Sealing, and dropping what is not sealed, are for the home executor.
  auto sealed = call_on(node.executor(), [&] {
    auto result = written.ok() ? save->seal() : std::move(written);
    save.reset();
    return result;
  });
  if (!sealed.ok()) return std::move(sealed).error();
  return memory;
}

}  // namespace

StoreOptions store_options_for(const Shape& shape, bool huge_pages) {
  StoreOptions options;
  options.huge_pages = huge_pages;
  const std::vector<std::uint64_t> bytes = block_bytes_by_node(shape);
  for (std::uint32_t i = 0; i < shape.numa_nodes; ++i) {
    const std::uint64_t set = bytes[i] * shape.blocks + kSlackPerSet;
    options.nodes.push_back({static_cast<std::int32_t>(i), set * shape.sets});
  }
  return options;
}

Result<std::vector<SourceMemory>> save_sets(Node& node, const Shape& shape) {
  auto made = make_layout(shape);
  if (!made.ok()) return std::move(made).error();
  const auto layout = call_on(node.executor(), [&] { return node.blocks().intern(*made); });
  std::vector<SourceMemory> sets;
  for (std::uint32_t set = 0; set < shape.sets; ++set) {
    auto saved = save_set(node, shape, layout, set);
    if (!saved.ok()) return std::move(saved).error();
    sets.push_back(std::move(*saved));
  }
  return sets;
}

}  // namespace corail::bench
