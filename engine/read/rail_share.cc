#include "engine/read/rail_share.h"

#include <utility>

namespace corail {

RailShare::RailShare(SharedRead& read, Rail& rail, std::unique_ptr<BlockVerifier> verifier,
                     const Clock& clock, Duration fence_deadline)
    : read_(read),
      rail_(rail),
      verifier_(std::move(verifier)),
      clock_(clock),
      fence_deadline_(fence_deadline),
      changed_(rail.executor()) {}

Task<Result<void>> RailShare::run() {
  running_ = true;
  rail_.attach(*this);
  bool fenced = false;
  while (!done()) {
    co_await changed_.wait();
    const bool give_up = read_.stopped.load(std::memory_order_acquire) || failure_.has_value();
    if (give_up && in_flight_ > 0 && !fenced) {
      fenced = true;
      co_await fence();
    }
  }
  submit_time_ = rail_.submit_time(*this);
  rail_.detach(*this);
  running_ = false;
  if (failure_) co_return std::move(*failure_).on_rail(rail_.name());
  co_return ok_result();
}

Task<void> RailShare::fence() {
  const TimePoint deadline = clock_.now() + fence_deadline_;
  auto fenced = co_await rail_.fence(*this, deadline);
  if (fenced) co_return;
  // The last step of the ladder (contract 4): without the device nothing of it writes any more.
  if (!failure_) failure_ = std::move(fenced).error().at(Stage::kWait);
  co_await rail_.close();
}

void RailShare::stop_requested() {
  if (running_) changed_.notify();
}

bool RailShare::done() const noexcept {
  if (in_flight_ > 0) return false;
  if (failure_ || read_.stopped.load(std::memory_order_acquire)) return true;
  return exhausted_ && flushed_.empty();
}

std::optional<Slice> RailShare::next(std::uint64_t max_bytes) noexcept {
  if (failure_ || read_.stopped.load(std::memory_order_acquire)) return std::nullopt;
  if (!flushed_.empty()) {
    const Slice slice = flushed_.back();
    flushed_.pop_back();
    ++in_flight_;
    ++reads_posted_;
    return slice;
  }
  const std::optional<SliceCursor::Cut> cut = read_.cursor.take(max_bytes);
  if (!cut) {
    exhausted_ = true;
    changed_.notify();
    return std::nullopt;
  }
  const BlockPlan::Span& span = *cut->span;
  const std::uint64_t within = cut->linear - span.linear;
  Slice slice;
  slice.region = span.region_id;
  slice.remote_offset = span.remote_offset + within;
  slice.remote_key = read_.region_keys.empty() ? 0 : read_.region_keys[span.region];
  slice.destination = read_.chunk_bases[span.chunk] + span.chunk_offset + within;
  slice.length = cut->length;
  slice.tag = cut->linear;
  ++in_flight_;
  ++reads_posted_;
  return slice;
}

void RailShare::hash(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept {
  if (!verifier_) return;
  const TimePoint begin = clock_.now();
  verifier_->landed(slice.tag + from, slice.tag + to);
  verify_time_ += clock_.now() - begin;
}

void RailShare::on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept {
  hash(slice, from, to);
}

void RailShare::on_outcome(const Slice& slice, Result<void> outcome) noexcept {
  --in_flight_;
  if (outcome.ok()) {
    if (!rail_.capabilities().reports_landing) hash(slice, 0, slice.length);
    landed_bytes_ += slice.length;
  } else if (outcome.error().code() == Errc::kFlushed) {
    // Not a failure: whoever fenced did it for a read of his own. Its bytes count when they land
    // again.
    if (verifier_) verifier_->restart(slice.tag, slice.tag + slice.length);
    flushed_.push_back(slice);
  } else {
    ++errors_;
    if (!failure_) failure_ = std::move(outcome).error().at(Stage::kWait);
  }
  if (in_flight_ == 0 || failure_) changed_.notify();
}

}  // namespace corail
