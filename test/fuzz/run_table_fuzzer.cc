// Run tables: what validate() accepts has the addresses that it says, and encoding them again gives
// the same ones.
#include <cstdlib>
#include <vector>

#include "engine/plan/run_table.h"
#include "test/fuzz/fuzz_input.h"

namespace corail::fuzz {
namespace {

/// Sizes are small, so that what is accepted can be looked at address by address.
constexpr std::uint32_t kMaxBlocks = 64;

RunTable table_of(FuzzInput& input, const Layout& layout) {
  RunTable table;
  for (std::uint32_t lane = 0; lane < layout.lanes(); ++lane) {
    const std::uint32_t runs = input.below(5);
    table.runs_per_lane.push_back(runs);
    for (std::uint32_t run = 0; run < runs; ++run) {
      const bool wide = input.below(8) == 0;
      table.base.push_back(wide ? input.number<std::uint64_t>() : input.number<std::uint16_t>());
      table.stride.push_back(wide ? input.number<std::int64_t>() : input.number<std::int16_t>());
      table.count.push_back(wide ? input.number<std::uint32_t>() : input.below(kMaxBlocks));
    }
  }
  return table;
}

void check(const RunTable& table, const Layout& layout, std::uint32_t blocks) {
  RunTableBuilder builder;
  std::vector<std::vector<std::uint64_t>> addresses;
  for (std::uint32_t lane = 0; lane < layout.lanes(); ++lane) {
    addresses.push_back(expand_lane(table, lane));
    if (addresses.back().size() != blocks) std::abort();
    for (const std::uint64_t address : addresses.back()) {
      if (address + layout.lane_bytes()[lane] < address) std::abort();
      builder.add(address);
    }
    builder.end_lane();
  }
  const RunTable again = builder.take();
  for (std::uint32_t lane = 0; lane < layout.lanes(); ++lane) {
    if (expand_lane(again, lane) != addresses[lane]) std::abort();
  }
}

}  // namespace
}  // namespace corail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corail::fuzz::FuzzInput input(data, size);
  std::vector<corail::Slot> slots(1 + input.below(3));
  for (corail::Slot& slot : slots) {
    slot.k_bytes = 1 + input.below(64);
    slot.v_bytes = input.below(64);
  }
  const auto layout = corail::Layout::make(std::move(slots));
  const std::uint32_t blocks = 1 + input.below(corail::fuzz::kMaxBlocks);
  const corail::RunTable table = corail::fuzz::table_of(input, *layout);
  if (validate(table, *layout, blocks, corail::RunLimits()).ok()) {
    corail::fuzz::check(table, *layout, blocks);
  }
  return 0;
}
