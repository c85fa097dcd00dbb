#include "apps/p2p_bench/range_read.h"

#include <algorithm>
#include <utility>

namespace corail::bench {
namespace {

void add(StageTimes& to, const StageTimes& one) {
  to.query += one.query;
  to.plan += one.plan;
  to.submit += one.submit;
  to.wait += one.wait;
  to.verify += one.verify;
  to.commit += one.commit;
  to.seal += one.seal;
}

/// Everything that sums over the reads of one lease.
void add(ReadReport& to, const ReadReport& one) {
  add(to.stages, one.stages);
  to.reads_planned += one.reads_planned;
  to.reads_posted += one.reads_posted;
  to.needed_bytes += one.needed_bytes;
  to.read_bytes += one.read_bytes;
  to.verified_bytes += one.verified_bytes;
  to.retried_slices += one.retried_slices;
  to.retried_bytes += one.retried_bytes;
  to.attempts = std::max(to.attempts, one.attempts);
  to.verify_cpu += one.verify_cpu;
  to.rails.resize(std::max(to.rails.size(), one.rails.size()));
  for (std::size_t i = 0; i < one.rails.size(); ++i) {
    const RailReport& from = one.rails[i];
    RailReport& rail = to.rails[i];
    rail.name = from.name;
    rail.bytes += from.bytes;
    rail.reads += from.reads;
    rail.errors += from.errors;
    if (!from.down.empty()) rail.down = from.down;
  }
}

Task<Result<RangeReads>> read_ranges(BlockLease* lease, Clock* clock, TimePoint begin,
                                     std::vector<LaneRange> ranges, FetchOptions options) {
  RangeReads reads;
  reads.report = lease->query_report();
  for (const LaneRange lanes : ranges) {
    auto view = co_await lease->read(lanes, options);
    if (!view) co_return std::move(view).error();
    if (reads.ranges.empty()) reads.first = clock->now() - begin;
    add(reads.report, view->report());
    reads.ranges.push_back({lanes, std::move(*view)});
  }
  co_return std::move(reads);
}

}  // namespace

std::vector<LaneRange> ranges_of(std::uint32_t lanes, std::uint32_t width) {
  std::vector<LaneRange> ranges;
  for (std::uint32_t begin = 0; begin < lanes; begin = ranges.back().end) {
    ranges.push_back({begin, begin + std::min(width, lanes - begin)});
  }
  return ranges;
}

Task<Result<RangeReads>> read_by_ranges(Peer* peer, Clock* clock,
                                        std::shared_ptr<const Layout> layout,
                                        std::shared_ptr<const BlockKeys> keys, std::uint32_t width,
                                        FetchOptions options) {
  const TimePoint begin = clock->now();
  auto lease = co_await peer->lease_blocks(layout, std::move(keys), options);
  if (!lease) co_return std::move(lease).error();
  std::vector<LaneRange> ranges = ranges_of(layout->lanes(), width);
  auto reads =
      co_await read_ranges(lease->get(), clock, begin, std::move(ranges), std::move(options));
  co_await (*lease)->close();
  co_return reads;
}

}  // namespace corail::bench
