#include "engine/plan/run_table.h"

#include <fmt/core.h>

#include <limits>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/units.h"
#include "engine/plan/run_extent.h"

namespace corail {
namespace {

/// to - from as a stride, or nothing where it does not fit.
std::optional<std::int64_t> stride_between(std::uint64_t from, std::uint64_t to) noexcept {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::uint64_t distance = to >= from ? to - from : from - to;
  if (distance > kMost) return std::nullopt;
  const auto magnitude = static_cast<std::int64_t>(distance);
  return to >= from ? magnitude : -magnitude;
}

Error bad_table(std::string detail) {
  return {Errc::kBadRunTable, Stage::kPlan,
          std::move(detail) + "; the peer's run table is unusable"};
}

Error bad_run(std::size_t lane, std::size_t run, std::string_view what) {
  return bad_table(fmt::format("run {} of lane {} {}", run, lane, what));
}

}  // namespace

bool RunTableBuilder::continues(std::uint64_t address) const noexcept {
  if (lane_runs_ == 0) return false;
  const std::uint32_t count = table_.count.back();
  if (count == std::numeric_limits<std::uint32_t>::max()) return false;
  const auto stride = stride_between(last_, address);
  if (!stride || *stride == 0) return false;
  return count == 1 || *stride == table_.stride.back();
}

void RunTableBuilder::add(std::uint64_t address) {
  const std::ptrdiff_t region = regions_ == nullptr ? 0 : regions_->find(address, 1);
  if (continues(address) && region == last_region_) {
    // The second address fixes the stride; it is representable, as continues() has checked.
    if (table_.count.back() == 1) table_.stride.back() = *stride_between(last_, address);
    ++table_.count.back();
  } else {
    table_.base.push_back(address);
    table_.stride.push_back(0);
    table_.count.push_back(1);
    ++lane_runs_;
  }
  last_ = address;
  last_region_ = region;
}

void RunTableBuilder::end_lane() {
  table_.runs_per_lane.push_back(lane_runs_);
  lane_runs_ = 0;
}

RunTable RunTableBuilder::take() {
  CORAIL_CHECK(lane_runs_ == 0, "RunTableBuilder::take() with a lane that was not ended");
  return std::exchange(table_, RunTable{});
}

std::vector<std::uint64_t> expand_lane(const RunTable& table, std::uint32_t lane) {
  std::size_t run = 0;
  for (std::uint32_t before = 0; before < lane; ++before) run += table.runs_per_lane[before];
  std::vector<std::uint64_t> addresses;
  for (const std::size_t end = run + table.runs_per_lane[lane]; run < end; ++run) {
    std::uint64_t address = table.base[run];
    for (std::uint32_t i = 0; i < table.count[run]; ++i) {
      addresses.push_back(address);
      // Unsigned arithmetic wraps as a negative stride needs; past the last address it is unused.
      address += static_cast<std::uint64_t>(table.stride[run]);
    }
  }
  return addresses;
}

Result<void> validate(const RunTable& table, const Layout& layout, std::uint32_t blocks,
                      const RunLimits& limits) {
  if (blocks == 0) {
    return Error(Errc::kInvalidArgument, Stage::kPlan, "a run table of no blocks was to be read");
  }
  const auto total = checked_mul(blocks, layout.block_bytes());
  if (!total || *total > limits.max_total_bytes) {
    return Error(Errc::kTooLarge, Stage::kPlan,
                 fmt::format("{} blocks of {} bytes exceed the limit of {} bytes a read; ask for "
                             "fewer blocks",
                             blocks, layout.block_bytes(), limits.max_total_bytes));
  }
  const std::size_t runs = table.base.size();
  if (runs > limits.max_runs) {
    return Error(Errc::kTooLarge, Stage::kPlan,
                 fmt::format("the peer's run table has {} runs, the limit is {}; ask for fewer "
                             "blocks",
                             runs, limits.max_runs));
  }
  if (table.stride.size() != runs || table.count.size() != runs) {
    return bad_table(fmt::format("{} bases, {} strides and {} counts do not match", runs,
                                 table.stride.size(), table.count.size()));
  }
  if (table.runs_per_lane.size() != layout.lanes()) {
    return bad_table(fmt::format("it has {} lanes where the layout has {}",
                                 table.runs_per_lane.size(), layout.lanes()));
  }
  std::size_t run = 0;
  for (std::size_t lane = 0; lane < table.runs_per_lane.size(); ++lane) {
    if (table.runs_per_lane[lane] > runs - run) {
      return bad_table(fmt::format("lane {} has more runs than the table has left", lane));
    }
    const std::size_t end = run + table.runs_per_lane[lane];
    std::uint64_t covered = 0;  // of at most 2^32 runs of at most 2^32: cannot overflow
    for (; run < end; ++run) {
      if (table.count[run] == 0) return bad_run(lane, run, "covers no block");
      covered += table.count[run];
      const std::string_view wrong = check_extent(table.base[run], table.stride[run],
                                                  table.count[run], layout.lane_bytes()[lane]);
      if (!wrong.empty()) return bad_run(lane, run, wrong);
    }
    if (covered != blocks) {
      return bad_table(
          fmt::format("the runs of lane {} cover {} blocks instead of {}", lane, covered, blocks));
    }
  }
  if (run != runs) return bad_table(fmt::format("{} runs belong to no lane", runs - run));
  return ok_result();
}

}  // namespace corail
