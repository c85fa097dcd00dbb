#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/region_table.h"
#include "engine/base/result.h"
#include "engine/plan/layout.h"

namespace corail {

/// Where the segments of an answer lie in the holder's memory: for each lane a sequence of runs,
/// concatenated over the lanes. The i-th block of the answer takes the i-th address of its lane's
/// runs; run r covers base[r], base[r] + stride[r], ..., count[r] addresses. Structure of arrays,
/// as on the wire, so that nothing is converted in between. A run lies in one region as a whole.
/// Received tables are hostile until validate() has passed (I5).
struct RunTable {
  std::vector<std::uint32_t> runs_per_lane;
  std::vector<std::uint64_t> base;   // the holder's virtual addresses
  std::vector<std::int64_t> stride;  // bytes, may be negative; meaningless where count is 1
  std::vector<std::uint32_t> count;  // at least 1

  std::size_t runs() const noexcept { return base.size(); }
  friend bool operator==(const RunTable&, const RunTable&) = default;
};

/// Encodes addresses greedily: a run goes on as long as the next address continues it, ascending or
/// descending. The stride of a run is fixed by its own second address and never bends, so a later
/// address cannot break what was encoded before. A value; one thread.
class RunTableBuilder {
 public:
  /// Runs break at the borders of `regions`, which must outlive the builder; with nullptr at none.
  explicit RunTableBuilder(const RegionTable* regions = nullptr) : regions_(regions) {}

  /// The lane's segment of the next block starts at `address`.
  void add(std::uint64_t address);
  /// Ends the lane; the next add() begins the next one.
  void end_lane();
  /// The table of all ended lanes. The builder is empty afterwards.
  RunTable take();

 private:
  bool continues(std::uint64_t address) const noexcept;

  const RegionTable* regions_;
  RunTable table_;
  std::uint32_t lane_runs_ = 0;
  std::uint64_t last_ = 0;          // address added last
  std::ptrdiff_t last_region_ = 0;  // its region's index
};

/// All addresses of one lane, in block order. The table must be valid for `blocks`.
std::vector<std::uint64_t> expand_lane(const RunTable& table, std::uint32_t lane);

/// What a table may at most demand.
struct RunLimits {
  std::uint64_t max_runs = 4'194'304;
  std::uint64_t max_total_bytes = ~std::uint64_t{0};
};

/// Checks a table of `blocks` blocks against the requester's own layout: lengths of the arrays,
/// runs per lane, counts, strides that overlap themselves, addresses that pass 2^64, total bytes.
/// Linear in the runs; allocates nothing. Fails with kBadRunTable, or kTooLarge where a limit is
/// exceeded. Which region holds an address is checked by the plan, not here.
Result<void> validate(const RunTable& table, const Layout& layout, std::uint32_t blocks,
                      const RunLimits& limits);

}  // namespace corail
