// Whether a read may start, and over which rails.

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/read/read_session.h"

namespace corail {

Result<void> ReadSession::may_start() const {
  if (request_.cancel.cancelled()) {
    return Error(Errc::kCancelled, Stage::kSubmit, "the caller gave up before the read began");
  }
  if (clock_.now() >= request_.deadline) {
    return Error(Errc::kDeadline, Stage::kSubmit, "no time was left when the read began");
  }
  auto checked = check_copy();
  if (!checked) return checked;
  return check_keys();
}

Result<void> ReadSession::check_copy() const {
  if (!request_.copy_on_commit) return ok_result();
  const BlockPlan& plan = *request_.plan;
  const std::uint64_t needed = plan.blocks() * plan.layout().block_bytes();
  if (request_.copy_on_commit->size() >= needed) return ok_result();
  return Error(Errc::kInvalidArgument, Stage::kSubmit,
               fmt::format("the memory for the copy has {} bytes, {} blocks need {}",
                           request_.copy_on_commit->size(), plan.blocks(), needed));
}

Result<void> ReadSession::check_keys() const {
  const auto& keys = request_.region_keys;
  if (keys.empty()) return ok_result();
  std::size_t regions = 0;
  for (const BlockPlan::Span& span : request_.plan->spans()) {
    regions = std::max<std::size_t>(regions, span.region + std::size_t{1});
  }
  const bool enough = std::all_of(keys.begin(), keys.end(), [regions](const auto& of_rail) {
    return of_rail.empty() || of_rail.size() >= regions;
  });
  if (enough && keys.size() == request_.rails.size()) return ok_result();
  return Error(Errc::kInvalidArgument, Stage::kSubmit,
               fmt::format("keys of {} rails for {} rails, and each needs one for each of the "
                           "holder's {} regions; ask the holder for its region table again",
                           keys.size(), request_.rails.size(), regions));
}

/// Why a rail that is ready cannot ask the holder for what the plan needs; nothing where it can.
std::optional<std::string> ReadSession::lacks_key(std::size_t rail) const {
  // Only devices need registered memory, and all that they ask for is under a key.
  if (!request_.rails[rail]->capabilities().needs_registration) return std::nullopt;
  const std::vector<std::uint64_t> none;
  const auto& keys = request_.region_keys.empty() ? none : request_.region_keys[rail];
  for (const BlockPlan::Span& span : request_.plan->spans()) {
    if (span.region < keys.size() && keys[span.region] != 0) continue;
    return fmt::format(
        "the holder told no key for its memory region {} on this rail; check that its port is "
        "open and knows the memory",
        span.region_id.value());
  }
  return std::nullopt;
}

Result<void> ReadSession::choose_rails() {
  std::string reasons;
  Errc code = Errc::kProtocol;
  for (std::size_t i = 0; i < request_.rails.size(); ++i) {
    const Rail& rail = *request_.rails[i];
    const RailStatus status = rail.status();
    on_trial_.push_back(status.breaker == BreakerState::kHalfOpen);
    if (status.state == RailState::kReady) {
      skipped_.push_back(lacks_key(i));
      if (skipped_.back()) reasons += fmt::format("; {}: {}", rail.name(), *skipped_.back());
      continue;
    }
    code = Errc::kConnectionLost;
    skipped_.emplace_back(fmt::format("{} (breaker {})", status.why, to_string(status.breaker)));
    reasons += fmt::format("; {}: {}", rail.name(), *skipped_.back());
  }
  const bool any = std::any_of(skipped_.begin(), skipped_.end(),
                               [](const auto& why) { return !why.has_value(); });
  if (any) return ok_result();
  return Error(
      code, Stage::kSubmit,
      fmt::format("none of the {} rails to the holder is ready{}", skipped_.size(), reasons));
}

}  // namespace corail
