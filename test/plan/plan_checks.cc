#include "test/plan/plan_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace corail::testing {
namespace {

struct Piece {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::ptrdiff_t region = 0;
};

/// The starts of all segments in the linear space.
std::set<std::uint64_t> borders(const BlockPlan& plan) {
  std::set<std::uint64_t> all{plan.total_bytes()};
  for (std::uint32_t block = 0; block < plan.blocks(); ++block) {
    for (std::uint32_t lane = plan.lane_range().begin; lane < plan.lane_range().end; ++lane) {
      all.insert(plan.linear_of(block, lane));
    }
  }
  return all;
}

}  // namespace

std::string check_replay(const Scenario& scenario, const BlockPlan& plan) {
  const Layout& layout = *scenario.layout;
  std::uint64_t total = 0;
  for (std::uint32_t lane = plan.lane_range().begin; lane < plan.lane_range().end; ++lane) {
    total += scenario.blocks * std::uint64_t{layout.lane_bytes()[lane]};
  }
  if (plan.total_bytes() != total) return "wrong total";
  std::vector<bool> used(plan.total_bytes());
  for (std::uint32_t block = 0; block < scenario.blocks; ++block) {
    for (std::uint32_t lane = plan.lane_range().begin; lane < plan.lane_range().end; ++lane) {
      const std::uint32_t bytes = layout.lane_bytes()[lane];
      const std::uint64_t linear = plan.linear_of(block, lane);
      const std::string name = fmt::format("block {} lane {}", block, lane);
      if (linear > plan.total_bytes() || bytes > plan.total_bytes() - linear) {
        return name + " is out of range";
      }
      for (std::uint64_t i = linear; i < linear + bytes; ++i) {
        if (used[i]) return name + " shares a byte";
        used[i] = true;
      }
      const BlockPlan::Span& span = plan.span_at(linear);
      const std::uint64_t within = linear - span.linear;
      if (within + bytes > span.length) return name + " is cut by a span";
      if (span.remote_address + within != scenario.addresses[lane][block]) {
        return name + " is read from elsewhere";
      }
      const BlockPlan::Place place = plan.locate(block, lane);
      if (place.chunk != span.chunk || place.offset != span.chunk_offset + within ||
          place.bytes != bytes) {
        return name + " lands elsewhere";
      }
    }
  }
  return {};
}

std::string check_spans(const Scenario& scenario, const BlockPlan& plan, const PlanLimits& limits) {
  std::uint64_t linear = 0;
  std::vector<std::uint64_t> chunk_bytes(plan.chunks().size(), 0);
  std::vector<std::ptrdiff_t> chunk_region(plan.chunks().size(), -1);
  const BlockPlan::Span* before = nullptr;
  for (const BlockPlan::Span& span : plan.spans()) {
    const Region& region = scenario.regions.regions()[span.region];
    if (span.linear != linear || span.length == 0) return "spans do not follow each other";
    if (scenario.regions.find(span.remote_address, span.length) !=
        static_cast<std::ptrdiff_t>(span.region)) {
      return "a span leaves its region";
    }
    if (span.region_id != region.id || span.remote_address - region.base != span.remote_offset) {
      return "a span names its region wrongly";
    }
    if (span.chunk_offset != chunk_bytes[span.chunk]) return "a chunk has a gap";
    if (plan.chunks()[span.chunk].linear + span.chunk_offset != span.linear) {
      return "a chunk starts elsewhere";
    }
    auto& owner = chunk_region[span.chunk];
    if (owner >= 0 && owner != static_cast<std::ptrdiff_t>(span.region)) {
      return "a chunk crosses the border of a region";
    }
    owner = span.region;
    if (plan.chunks()[span.chunk].numa_node != region.numa_node) return "a chunk is on a far node";
    if (before != nullptr && before->chunk == span.chunk &&
        before->remote_address + before->length == span.remote_address) {
      return "two spans should be one";
    }
    if (before != nullptr && before->chunk > span.chunk) return "chunks are out of order";
    chunk_bytes[span.chunk] += span.length;
    linear += span.length;
    before = &span;
  }
  if (linear != plan.total_bytes()) return "the spans do not cover the plan";
  for (std::size_t i = 0; i < chunk_bytes.size(); ++i) {
    if (plan.chunks()[i].bytes != chunk_bytes[i]) return "a chunk has a wrong size";
    if (chunk_bytes[i] == 0 || chunk_bytes[i] > limits.max_chunk_bytes) {
      return "a chunk is empty or too large";
    }
  }
  return {};
}

std::string check_cuts(const Scenario& scenario, const BlockPlan& plan) {
  const std::uint64_t want = plan.max_read_bytes();
  const std::set<std::uint64_t> all = borders(plan);
  std::uint64_t reads = 0;
  for (std::uint64_t from = 0; from < plan.total_bytes(); ++reads) {
    const BlockPlan::Span& span = plan.span_at(from);
    const std::uint64_t end = plan.cut(from, want);
    if (end <= from || end - from > want) return "a READ has a bad length";
    if (end > span.linear + span.length) return "a READ crosses a span";
    const auto next = all.upper_bound(from);
    if (!all.contains(end)) {
      if (*next - from <= want) return "a READ ends inside a segment for no reason";
      if (end != from + want) return "a READ of a large segment is too short";
    } else if (end != span.linear + span.length) {
      const std::uint64_t further = *std::next(all.find(end));
      if (further - from <= want) return "a READ could have been longer";
    }
    from = end;
  }
  if (reads != plan.reads_planned()) {
    return fmt::format("{} READs instead of {}", reads, plan.reads_planned());
  }
  const std::uint64_t reference = reference_reads(scenario, plan.lane_range(), want);
  // Chunks cost no READ, unless one has to end right behind a segment that takes several.
  const auto sizes = scenario.layout->lane_bytes();
  const bool splits = *std::max_element(sizes.begin(), sizes.end()) > want;
  const std::uint64_t most = reference + (splits ? plan.chunks().size() - 1 : 0);
  if (reads < reference || reads > most) {
    return fmt::format("{} READs where {} would do", reads, reference);
  }
  return {};
}

std::string check_segments(const BlockPlan& plan, std::uint64_t from, std::uint64_t to) {
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>> expected;
  for (std::uint32_t block = 0; block < plan.blocks(); ++block) {
    for (std::uint32_t lane = plan.lane_range().begin; lane < plan.lane_range().end; ++lane) {
      const std::uint32_t bytes = plan.layout().lane_bytes()[lane];
      const std::uint64_t linear = plan.linear_of(block, lane);
      if (linear < to && linear + bytes > from) expected.emplace_back(linear, block, lane, bytes);
    }
  }
  std::sort(expected.begin(), expected.end());
  if (from >= to) expected.clear();
  decltype(expected) visited;
  plan.for_each_segment(
      from, to,
      [&visited](std::uint32_t block, std::uint32_t lane, std::uint64_t linear,
                 std::uint32_t bytes) { visited.emplace_back(linear, block, lane, bytes); });
  return visited == expected ? "" : fmt::format("wrong segments in [{}, {})", from, to);
}

std::uint64_t reference_reads(const Scenario& scenario, LaneRange lanes,
                              std::uint64_t max_read_bytes) {
  std::vector<Piece> pieces;
  for (std::uint32_t lane = lanes.begin; lane < lanes.end; ++lane) {
    const std::uint64_t bytes = scenario.layout->lane_bytes()[lane];
    for (const std::uint64_t address : scenario.addresses[lane]) {
      pieces.push_back({address, bytes, scenario.regions.find(address, bytes)});
    }
  }
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.address < b.address; });
  std::uint64_t reads = 0;
  std::uint64_t end = 0;
  std::uint64_t room = 0;  // left in the READ at hand
  const Piece* before = nullptr;
  for (const Piece& piece : pieces) {
    const bool fused = before != nullptr && piece.address == end && piece.region == before->region;
    std::uint64_t left = piece.bytes;
    if (fused && left <= room) {
      room -= left;
    } else {
      // A segment that does not fit begins a READ; what is left of the last one takes others.
      const std::uint64_t needed = (left + max_read_bytes - 1) / max_read_bytes;
      reads += needed;
      room = needed * max_read_bytes - left;
    }
    end = piece.address + piece.bytes;
    before = &piece;
  }
  return reads;
}

}  // namespace corail::testing
