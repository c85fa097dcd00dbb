#include "engine/read/rail_share.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace corail {

RailShare::RailShare(SharedRead& read, OwnerPart& part, Rail& rail, bool on_trial,
                     std::vector<std::uint64_t> region_keys,
                     std::unique_ptr<LandingVerifier> verifier, Clock& clock,
                     Duration fence_deadline)
    : read_(read),
      part_(part),
      rail_(rail),
      gives_back_(read.retry || on_trial),
      region_keys_(std::move(region_keys)),
      verifier_(std::move(verifier)),
      clock_(clock),
      fence_deadline_(fence_deadline),
      changed_(rail.executor()) {
  in_flight_.reserve(rail.capabilities().max_slices);
}

namespace {

bool is_path_fault(const Error& error) { return error.error_class() == ErrorClass::kTransport; }

}  // namespace

Task<Result<void>> RailShare::run() {
  auto attached = rail_.attach(*this);
  if (attached) {
    co_await pull();
  } else {
    // The rail was lost since the read has begun.
    fail(std::move(attached).error());
  }
  co_return conclude();
}

Task<void> RailShare::pull() {
  running_ = true;
  if (read_.pushed) co_await open_to_owner();
  while (!done() && !stuck_) {
    co_await changed_.wait();
    if (giving_up() && !in_flight_.empty()) co_await make_quiescent();
  }
  running_ = false;
  submit_time_ = rail_.submit_time(*this);
  if (stuck_) {
    // The right to write stays with the memory, which nobody gets any more.
    rail_.abandon(*this);
    co_return;
  }
  if (read_.pushed) co_await rail_.revoke(*this);
  rail_.detach(*this);
}

Result<void> RailShare::conclude() {
  if (stuck_) return std::move(*stuck_).on_rail(rail_.name());
  if (!failure_) return ok_result();
  Error error = std::move(*failure_).on_rail(rail_.name());
  failure_ = error;
  if (!give_back()) return error;
  lost_ = std::move(error);
  return ok_result();
}

bool RailShare::give_back() {
  if (!gives_back_ || !is_path_fault(*failure_)) return false;
  if (read_.stopped.load(std::memory_order_acquire)) return false;
  // The last one has nobody to give to.
  if (part_.survivors.fetch_sub(1, std::memory_order_acq_rel) == 1) return false;
  if (verifier_) {
    for (const LostCut& cut : unlanded_) verifier_->restart(cut.linear, cut.linear + cut.length);
  }
  for (const Flushed& waiting : flushed_) {
    unlanded_.push_back({waiting.slice.tag, waiting.slice.length});
  }
  if (!unlanded_.empty()) read_.attempts.fetch_add(1, std::memory_order_relaxed);
  part_.returned.give_back(unlanded_);
  part_.wake();
  return true;
}

void RailShare::stop_requested() {
  if (running_) changed_.notify();
}

void RailShare::look_again() {
  if (!running_) return;
  rail_.ask_again(*this);
  changed_.notify();
}

void RailShare::on_rail_failed(const Error& why) noexcept {
  // Who gives up already does all that there is to do.
  if (!running_ || done() || giving_up()) return;
  fail(why);
  changed_.notify();
}

bool RailShare::giving_up() const noexcept {
  return failure_.has_value() || read_.stopped.load(std::memory_order_acquire);
}

bool RailShare::done() const noexcept {
  if (!in_flight_.empty()) return false;
  if (giving_up()) return true;
  if (!flushed_.empty()) return false;
  // Where slices may be given back, somebody has to be there to take them.
  if (read_.may_give_back) return part_.all_landed();
  // Whoever took the last one: a rail whose window others fill may not ask for long.
  return part_.cursor.remaining() == 0;
}

bool RailShare::has_fair_part() const noexcept {
  // Whoever is asked first would fill a whole window and, of a read no larger than a few windows,
  // leave the other rails nothing; and a slow rail would hold a window's worth at the end, for
  // which all wait. So no rail holds more than its part of what is left, by its part of what has
  // landed; a slice each is added, so that all begin as equals.
  if (part_.rails == 1 || in_flight_.empty()) return false;
  std::uint64_t own = 0;
  for (const Progress& entry : in_flight_) own += entry.length;
  const auto slice = static_cast<double>(read_.max_slice_bytes);
  const auto landed_here = static_cast<double>(landed_bytes_) + slice;
  const auto landed =
      static_cast<double>(part_.landed_bytes.load(std::memory_order_relaxed)) + slice * part_.rails;
  const auto left = static_cast<double>(part_.cursor.remaining() + part_.returned.bytes());
  return static_cast<double>(own) >= left * landed_here / landed;
}

bool RailShare::has_more() const noexcept {
  if (giving_up() || waits_for_grant()) return false;
  if (!flushed_.empty()) return true;
  return (part_.cursor.remaining() > 0 || part_.returned.bytes() > 0) && !has_fair_part();
}

std::optional<Slice> RailShare::next(std::uint64_t max_bytes) noexcept {
  if (!has_more()) return std::nullopt;
  if (!flushed_.empty()) return next_flushed(max_bytes);
  const std::optional<SliceCursor::Cut> cut = take(max_bytes);
  // Another rail may have taken the last one meanwhile.
  if (!cut) return std::nullopt;
  const ReadPlan::Span& span = *cut->span;
  const std::uint64_t within = cut->linear - span.linear;
  Slice slice;
  slice.pushed = read_.pushed;
  slice.remote_offset = span.remote_offset + within;
  if (!slice.pushed) {
    slice.region = span.region_id;
    slice.remote_key = region_keys_.empty() ? 0 : region_keys_[span.region];
  }
  slice.destination = read_.chunk_bases[span.chunk] + span.chunk_offset + within;
  slice.length = cut->length;
  slice.tag = cut->linear;
  slice.of_small_read = part_.bytes <= part_.rails * kSmallBytesPerRail;
  started(slice, 0);
  if (part_.rails > 1 && !read_.may_give_back && part_.cursor.remaining() == 0) part_.wake();
  return slice;
}

Slice RailShare::next_flushed(std::uint64_t max_bytes) noexcept {
  Flushed& again = flushed_.back();
  Slice slice = again.slice;
  const std::uint32_t reposts = again.reposts + 1;
  if (slice.length <= max_bytes) {
    flushed_.pop_back();
  } else {
    // There is less room than when it was cut.
    slice.length = max_bytes;
    again.slice.tag += max_bytes;
    again.slice.remote_offset += max_bytes;
    again.slice.destination += max_bytes;
    again.slice.length -= max_bytes;
  }
  started(slice, reposts);
  return slice;
}

std::optional<SliceCursor::Cut> RailShare::take(std::uint64_t max_bytes) noexcept {
  auto cut = part_.cursor.take(max_bytes);
  if (cut || !read_.may_give_back) return cut;
  cut = part_.returned.take(max_bytes);
  if (!cut) return cut;
  ++retried_slices_;
  retried_bytes_ += cut->length;
  return cut;
}

void RailShare::started(const Slice& slice, std::uint32_t reposts) {
  Progress progress;
  progress.tag = slice.tag;
  progress.length = slice.length;
  progress.reposts = reposts;
  in_flight_.push_back(progress);
  ++reads_posted_;
}

RailShare::Progress RailShare::ended(const Slice& slice) noexcept {
  const auto found = std::find_if(in_flight_.begin(), in_flight_.end(),
                                  [&](const Progress& entry) { return entry.tag == slice.tag; });
  CORAIL_CHECK(found != in_flight_.end(), "a slice has one outcome");
  const Progress progress = *found;
  *found = in_flight_.back();
  in_flight_.pop_back();
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
  verify_time_ += machine_now() - begin;
}

void RailShare::on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept {
  const auto found = std::find_if(in_flight_.begin(), in_flight_.end(),
                                  [&](const Progress& entry) { return entry.tag == slice.tag; });
  CORAIL_CHECK(found != in_flight_.end() && found->landed == from, "a slice lands in order");
  found->landed = to;
  hash(slice, from, to);
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
