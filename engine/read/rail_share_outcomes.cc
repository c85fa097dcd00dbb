// What becomes of a share's slices: what landed, what failed, what is posted again.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/rail/push.h"
#include "engine/read/rail_share.h"

namespace corail {

RailShare::Progress RailShare::ended(const Slice& slice) noexcept {
  const auto found = std::find_if(in_flight_.begin(), in_flight_.end(),
                                  [&](const Progress& entry) { return entry.tag == slice.tag; });
  CORAIL_CHECK(found != in_flight_.end(), "a slice has one outcome");
  const Progress progress = *found;
  *found = in_flight_.back();
  in_flight_.pop_back();
  times_.slices += clock_.now() - progress.posted;
  if (part_.dealer) part_.dealer->ended(dealt_as_, progress.length);
  return progress;
}

void RailShare::fail(Error error) noexcept {
  const bool path = is_path_fault(error);
  if (path) ++errors_;
  // What others cannot make good for outweighs what they can.
  const bool outweighs = failure_ && gives_back_ && !path && is_path_fault(*failure_);
  if (!failure_ || outweighs) failure_ = std::move(error).at(Stage::kWait);
}

void RailShare::hash(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept {
  if (!verifier_ || read_.stopped.load(std::memory_order_acquire)) return;
  // Where what has landed is kept, also of a share that fails.
  if (failure_ && !gives_back_) return;
  // What our own code costs passes on the machine's clock, also where time is virtual.
  const TimePoint begin = machine_now();
  verifier_->landed(slice.tag + from, slice.tag + to);
  times_.verify += machine_now() - begin;
}

void RailShare::on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept {
  const auto found = std::find_if(in_flight_.begin(), in_flight_.end(),
                                  [&](const Progress& entry) { return entry.tag == slice.tag; });
  CORAIL_CHECK(found != in_flight_.end() && found->landed == from, "a slice lands in order");
  found->landed = to;
  hash(slice, from, to);
}

void RailShare::on_receipt(const Slice& /*slice*/, const PushReceipt& receipt) noexcept {
  // Another's word (I5): a figure for people, and no longer than what it is a part of.
  const Duration most = clock_.now() - began_;
  times_.disk += std::clamp(receipt.disk, Duration(0), most);
  times_.send += std::clamp(receipt.send, Duration(0), most);
}

bool RailShare::post_again(const Slice& slice, std::uint32_t reposts) noexcept {
  if (!rail_.usable()) {
    // Posted again it would be flushed again, for ever.
    fail(Error(Errc::kConnectionLost,
               "the rail went down while slices were posted on it: " + rail_.status().why));
    return false;
  }
  if (reposts >= kMaxRepostsPerSlice) {
    fail(Error(Errc::kRailFailed,
               fmt::format("a slice of {} bytes was flushed {} times although nobody here gave it "
                           "up; check the rail's device and the holder",
                           slice.length, reposts + 1)));
    return false;
  }
  // Not a failure: whoever fenced did it for a read of his own. Its bytes count when they land
  // again.
  if (verifier_) verifier_->restart(slice.tag, slice.tag + slice.length);
  Flushed again;
  again.slice = slice;
  again.reposts = reposts;
  flushed_.push_back(again);
  return true;
}

void RailShare::landed(const Slice& slice) noexcept {
  landed_bytes_ += slice.length;
  part_.landed_bytes.fetch_add(slice.length, std::memory_order_relaxed);
  if (read_.may_give_back && part_.all_landed()) part_.wake();
}

void RailShare::on_outcome(const Slice& slice, Result<void> outcome) noexcept {
  const Progress progress = ended(slice);
  const bool reports = rail_.capabilities().reports_landing;
  bool settled = false;
  if (outcome.ok() && reports && progress.landed != slice.length) {
    // A device that says it is done although it is not (I3). Hashing would find it as well, but not
    // every read is hashed.
    fail(Error(
        Errc::kByteCountMismatch,
        fmt::format("a slice of {} bytes ended well after {} of them; check the rail's device",
                    slice.length, progress.landed)));
  } else if (outcome.ok()) {
    if (!reports) hash(slice, 0, slice.length);
    landed(slice);
    settled = true;
  } else if (outcome.error().code() != Errc::kFlushed) {
    fail(std::move(outcome).error());
  } else if (!giving_up()) {
    // Else by our own fence, or by one that came first.
    settled = post_again(slice, progress.reposts);
  }
  if (!settled) unlanded_.push_back({slice.tag, slice.length});
  if (in_flight_.empty() || failure_) changed_.notify();
}

}  // namespace corail
