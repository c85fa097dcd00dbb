// Whether a read may start, and over which rails.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/log.h"
#include "engine/read/read_session.h"

namespace corail {

Result<void> ReadSession::may_start() {
  if (request_.cancel.cancelled()) {
    return Error(Errc::kCancelled, Stage::kSubmit, "the caller gave up before the read began");
  }
  if (clock_.now() >= request_.deadline) {
    return Error(Errc::kDeadline, Stage::kSubmit, "no time was left when the read began");
  }
  auto checked = check_copy();
  if (checked) checked = check_chunks();
  if (checked) checked = check_owners();
  if (checked) checked = check_members();
  if (checked) checked = check_keys();
  if (checked) checked = choose_integrity();
  return checked;
}

Result<void> ReadSession::choose_integrity() {
  if (!request_.expectation) return ok_result();
  auto integrity = make_integrity(request_.plan, std::move(*request_.expectation));
  if (!integrity) return std::move(integrity).error().at(Stage::kSubmit);
  integrity_ = std::move(*integrity);
  return ok_result();
}

Result<void> ReadSession::check_copy() const {
  if (!request_.copy_on_commit) return ok_result();
  const std::uint64_t needed = request_.plan->copy_bytes();
  if (request_.copy_on_commit->size() >= needed) return ok_result();
  return Error(Errc::kInvalidArgument, Stage::kSubmit,
               fmt::format("the memory for the copy has {} bytes, what is read needs {}",
                           request_.copy_on_commit->size(), needed));
}

Result<void> ReadSession::check_chunks() const {
  const std::span<const ChunkSpec> planned = request_.plan->chunks();
  const bool fits = std::ranges::equal(
      planned, request_.chunks,
      [](const ChunkSpec& spec, std::span<const std::byte> chunk) {
        return chunk.size() >= spec.bytes;
      },
      {}, [](const SlabChunk& chunk) { return chunk.bytes(); });
  if (fits) return ok_result();
  return Error(Errc::kInvalidArgument, Stage::kSubmit,
               fmt::format("the destination has {} chunks and the plan {}, or one is smaller than "
                           "planned; allocate those of this plan",
                           request_.chunks.size(), planned.size()));
}

/// Nobody else's yes counts for an owner of the plan.
Result<void> ReadSession::check_members() const {
  const std::span<const NodeId> members = owner_.members();
  const std::size_t owners = request_.plan->owners();
  bool all = owners == 1 || !members.empty();
  for (std::size_t i = 0; all && !members.empty() && i < owners; ++i) {
    const std::optional<NodeId> id = request_.plan->owner_id(i);
    all =
        id ? std::ranges::find(members, *id) != members.end() : owners == 1 && members.size() == 1;
  }
  // Nothing is read, and there is nobody whose yes could be missing.
  if (all || request_.plan->total_bytes() == 0) return ok_result();
  return Error(
      Errc::kInvalidArgument, Stage::kSubmit,
      fmt::format("the plan reads from {} owners, and not all of them are among the {} that "
                  "will be asked to confirm; ask every owner of the object",
                  owners, members.size()));
}

Result<void> ReadSession::check_owners() const {
  const std::size_t owners = request_.plan->owners();
  const auto& of_rails = request_.rail_owners;
  const bool known = of_rails.empty() || of_rails.size() == request_.rails.size();
  const std::size_t nodes = request_.rail_nodes.size();
  if (nodes != 0 && nodes != request_.rails.size()) {
    return Error(Errc::kInvalidArgument, Stage::kSubmit,
                 fmt::format("{} rails, and the NUMA nodes of {}", request_.rails.size(), nodes));
  }
  const bool exist = std::all_of(of_rails.begin(), of_rails.end(),
                                 [owners](std::uint32_t owner) { return owner < owners; });
  if (known && exist) return ok_result();
  return Error(
      Errc::kInvalidArgument, Stage::kSubmit,
      fmt::format("{} rails reach owners, of {} rails and {} owners; each rail reaches one "
                  "of the plan's",
                  of_rails.size(), request_.rails.size(), owners));
}

Result<void> ReadSession::check_keys() const {
  const auto& keys = request_.region_keys;
  if (keys.empty() || request_.pushed) return ok_result();
  std::vector<std::size_t> regions(request_.plan->owners());
  for (std::size_t owner = 0; owner < regions.size(); ++owner) {
    for (const ReadPlan::Span& span : request_.plan->spans_of(owner)) {
      regions[owner] = std::max<std::size_t>(regions[owner], span.region + std::size_t{1});
    }
  }
  bool enough = keys.size() == request_.rails.size();
  for (std::size_t i = 0; enough && i < keys.size(); ++i) {
    enough = keys[i].empty() || keys[i].size() >= regions[owner_of(i)];
  }
  if (enough) return ok_result();
  return Error(Errc::kInvalidArgument, Stage::kSubmit,
               fmt::format("keys of {} rails for {} rails, and each needs one for each of the "
                           "holder's {} regions; ask the holder for its region table again",
                           keys.size(), request_.rails.size(), fmt::join(regions, ", ")));
}

/// Why a rail that is ready cannot ask the holder for what the plan needs; nothing where it can.
std::optional<std::string> ReadSession::lacks_key(std::size_t rail) const {
  // Only devices need registered memory, and all that they ask for is under a key.
  if (!request_.rails[rail]->capabilities().needs_registration) return std::nullopt;
  const std::vector<std::uint64_t> none;
  const auto& keys = request_.region_keys.empty() ? none : request_.region_keys[rail];
  for (const ReadPlan::Span& span : request_.plan->spans_of(owner_of(rail))) {
    if (span.region < keys.size() && keys[span.region] != 0) continue;
    return fmt::format(
        "the holder told no key for its memory region {} on this rail; check that its port is "
        "open and knows the memory",
        span.region_id.value());
  }
  return std::nullopt;
}

std::optional<std::string> ReadSession::cannot_serve(std::size_t rail) const {
  if (!request_.pushed) return lacks_key(rail);
  if (request_.rails[rail]->capabilities().pushes) return std::nullopt;
  return "its transport has no owner write; read what lies in memory by pull, or use other rails";
}

Result<void> ReadSession::choose_rails() {
  std::string reasons;
  Errc code = request_.pushed ? Errc::kIncompatible : Errc::kProtocol;
  for (std::size_t i = 0; i < request_.rails.size(); ++i) {
    const Rail& rail = *request_.rails[i];
    const RailStatus status = rail.status();
    on_trial_.push_back(status.breaker == BreakerState::kHalfOpen);
    if (status.state == RailState::kReady) {
      skipped_.push_back(cannot_serve(i));
      if (skipped_.back()) reasons += fmt::format("; {}: {}", rail.name(), *skipped_.back());
      continue;
    }
    code = Errc::kConnectionLost;
    skipped_.emplace_back(fmt::format("{} (breaker {})", status.why, to_string(status.breaker)));
    reasons += fmt::format("; {}: {}", rail.name(), *skipped_.back());
  }
  const std::vector<std::uint32_t> reaching = rails_of_owners();
  const auto unreached = std::find(reaching.begin(), reaching.end(), 0U);
  if (unreached == reaching.end()) return ok_result();
  if (reaching.size() == 1) {
    return Error(
        code, Stage::kSubmit,
        fmt::format("none of the {} rails to the holder is ready{}", skipped_.size(), reasons));
  }
  return Error(code, Stage::kSubmit,
               fmt::format("none of the rails to owner {} of {}, counted from 0, is ready{}",
                           unreached - reaching.begin(), reaching.size(), reasons));
}

void ReadSession::build_dealers() {
  // Where the memory is, or else where the plan wanted it.
  std::vector<std::int32_t> nodes;
  for (std::size_t i = 0; i < request_.chunks.size(); ++i) {
    const std::int32_t node = request_.chunks[i].numa_node();
    nodes.push_back(node >= 0 ? node : request_.plan->chunks()[i].numa_node);
  }
  for (const auto& part : shared_->parts) {
    part->dealer = std::make_unique<SliceDealer>(*request_.plan, part->cursor, request_.scheduler,
                                                 request_.max_slice_bytes, nodes);
  }
}

void ReadSession::heed_callers_memory() {
  if (std::ranges::all_of(request_.chunks, &SlabChunk::engine_owned)) return;
  shared_->on_stuck = [told = request_.on_stuck](const StuckMemory& stuck) {
    std::uint64_t bytes = 0;
    for (const std::span<std::byte> range : stuck.ranges) bytes += range.size();
    log(LogLevel::kError,
        "read {} does not return: the device of rail {} hangs and may still write {} bytes of its "
        "caller's memory, from {} on; check the device, and restart this process to be rid of it",
        stuck.read.value(), stuck.rail, bytes, fmt::ptr(stuck.ranges.front().data()));
    if (told) told(stuck);
  };
}

std::vector<std::uint32_t> ReadSession::rails_of_owners() const {
  std::vector<std::uint32_t> reaching(request_.plan->owners());
  for (std::size_t i = 0; i < skipped_.size(); ++i) {
    if (!skipped_[i]) ++reaching[owner_of(i)];
  }
  return reaching;
}

}  // namespace corail
