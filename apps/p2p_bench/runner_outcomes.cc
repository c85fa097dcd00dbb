#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "apps/p2p_bench/destination.h"
#include "apps/p2p_bench/object_content.h"
#include "apps/p2p_bench/runner.h"
#include "apps/p2p_bench/verify.h"

namespace corail::bench {
namespace {

/// Errors after which the next read has a chance. All others end the run.
bool passes(const Error& error) {
  return error.error_class() == ErrorClass::kIntegrity ||
         error.error_class() == ErrorClass::kBackPressure;
}

void add_failure(RunResult& result, std::string sentence) {
  if (result.failures.size() < kMaxFailures) result.failures.push_back(std::move(sentence));
}

void add(const ContentCheck& check, Iteration& iteration) {
  iteration.content_bytes += check.checked_bytes;
  iteration.mismatched_bytes += check.wrong_bytes;
}

const char* kSameShape = "both sides need the same shape flags";

}  // namespace

Result<void> Runner::take(const Turn& turn, ReadOutcome outcome, std::uint32_t set,
                          Iteration iteration) {
  if (!outcome.view.ok()) return judge(turn, outcome);
  iteration.report = outcome.view->report();
  iteration.first_range_ms = std::chrono::duration<double, std::milli>(outcome.first_range).count();
  if (outcome.object) {
    if (options_.verify) add(check_object(*outcome.object, options_.shape, set), iteration);
    keep(turn, std::move(iteration));
    return ok_result();
  }
  if (outcome.ranges.empty()) {
    outcome.ranges.push_back({LaneRange{0, layout_->lanes()}, std::move(*outcome.view)});
  }
  return account(turn, outcome, set, std::move(iteration));
}

Result<void> Runner::judge(const Turn& turn, const ReadOutcome& outcome) {
  const Error& error = outcome.view.error();
  const bool asked = outcome.cancel_asked || parts_.cancel.cancelled();
  if (error.code() == Errc::kCancelled && asked) {
    if (!turn.measured) return ok_result();
    ++turn.result.cancelled;
    if (outcome.cancel_asked) {
      const Duration took = outcome.ended - *outcome.cancel_asked;
      turn.result.cancel_ms.push_back(std::chrono::duration<double, std::milli>(took).count());
    }
    return ok_result();
  }
  ++turn.result.failed;
  if (passes(error)) {
    add_failure(turn.result, error.to_string());
    return ok_result();
  }
  if (error.code() != Errc::kNotFound && error.code() != Errc::kLayoutMismatch) return error;
  return Error(error.code(), error.stage(), fmt::format("{}; {}", error.detail(), kSameShape))
      .on_peer(error.peer());
}

Result<void> Runner::check_size(const Turn& turn, std::span<const RangeView> ranges,
                                std::uint32_t set) const {
  const Shape& shape = options_.shape;
  const std::uint32_t blocks = ranges.front().view.blocks();
  std::uint64_t bytes = 0;
  for (const RangeView& range : ranges) bytes += range.view.bytes();
  if (blocks == shape.blocks && bytes == shape.payload_bytes()) return ok_result();
  return Error(Errc::kNotFound, Stage::kQuery,
               fmt::format("the holder has {} of the {} blocks of set {}; {}", blocks, shape.blocks,
                           set, kSameShape))
      .on_peer(turn.asker.peer->name());
}

Result<void> Runner::account(const Turn& turn, const ReadOutcome& outcome, std::uint32_t set,
                             Iteration iteration) {
  auto complete = check_size(turn, outcome.ranges, set);
  if (!complete.ok()) return complete;
  if (options_.verify) {
    for (const RangeView& range : outcome.ranges) {
      add(check_content(range.view, options_.shape, set, orders_[set], range.lanes), iteration);
    }
  }
  keep(turn, std::move(iteration));
  return ok_result();
}

void Runner::keep(const Turn& turn, Iteration iteration) {
  // What a warm-up found wrong is wrong, too.
  if (!turn.measured && iteration.mismatched_bytes != 0) {
    add_failure(turn.result, fmt::format("{} bytes had wrong content in the warm-up",
                                         iteration.mismatched_bytes));
  }
  if (turn.measured) turn.result.iterations.push_back(std::move(iteration));
}

Result<void> Runner::look_for_late_writes(const Turn& turn) {
  const auto check =
      check_reused_memory(*turn.asker.node, parts_.clock, options_.shape, options_.concurrency);
  if (!check.ok()) return check.error();
  turn.result.reused_bytes += check->checked_bytes;
  turn.result.late_bytes += check->wrong_bytes;
  return ok_result();
}

}  // namespace corail::bench
