#include "engine/rail/rail.h"

#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/check.h"
#include "engine/rail/rail_attachment.h"

namespace corail {

/// Slices handed to the transport in one call, at most (I8).
constexpr std::size_t kMaxPostBatch = 16;
/// What a share posts before it is the next one's turn, but for the slice that ends the turn, which
/// is posted whole. Small slices go out several at a time so.
constexpr std::uint64_t kShareTurnBytes = 256 * kKiB;
/// What a share that has nothing in flight may post although the others fill the window.
constexpr std::uint64_t kAssuredSliceBytes = kMiB;
/// Slots for slices that shares which have something in flight leave to those that have nothing.
constexpr std::size_t kAssuredSlots = 16;

void Rail::Attachment::on_outcome(const Slice& slice, Result<void> outcome) noexcept {
  Rail& rail = rail_;
  const TimePoint now = rail.clock_.now();
  rail.posted_.end(*this, slice.tag, now);
  if (outcome.ok() && !rail.capabilities().reports_landing) rail.window_.landed(slice.length, now);
  rail.window_.ended(now);
  rail.bytes_in_flight_ -= slice.length;
  bytes_in_flight_ -= slice.length;
  if (source_ != nullptr) rail.port_place_.ended(slice.length);
  if (outcome.ok()) rail.counters_.bytes += slice.length;
  // Before the share learns of it: what it does next depends on whether the rail lives. It still
  // counts as having the slice, because the outcome is what tells it of a loss.
  rail.judge(outcome);
  --slices_in_flight_;
  rail.back_in_turn(*this);
  // Posting from inside an outcome would re-enter the transport: the pump runs later, once per
  // batch.
  rail.schedule_pump();
  if (source_ != nullptr) {
    source_->on_outcome(slice, std::move(outcome));
  } else if (slices_in_flight_ == 0) {
    rail.forget(*this);
  }
}

Rail::Rail(std::string name, asio::any_io_executor executor, Clock& clock,
           MakeTransport make_transport, RailWindow window, RailOptions options)
    : name_(std::move(name)),
      executor_(std::move(executor)),
      clock_(clock),
      make_transport_(std::move(make_transport)),
      options_(std::move(options)),
      window_(window, options_.fence_deadline),
      transport_(make_transport_ ? make_transport_() : nullptr),
      health_(options_.health, options_.port.get()),
      port_place_(options_.budget, [this] { schedule_pump(); }),
      watchdog_(clock.make_timer(executor_)),
      rest_timer_(clock.make_timer(executor_)),
      life_changed_(executor_),
      close_changed_(executor_),
      scope_(executor_),
      self_(std::make_shared<Rail*>(this)) {}

Rail::Rail(std::string name, asio::any_io_executor executor, Clock& clock,
           std::unique_ptr<Transport> transport, RailWindow window)
    : Rail(std::move(name), std::move(executor), clock, MakeTransport(), window, RailOptions()) {
  transport_ = std::move(transport);
}

Rail::~Rail() {
  CORAIL_CHECK(attachments_.empty(), "a rail outlives every read that uses it (I6)");
  *self_ = nullptr;
  if (options_.port != nullptr) options_.port->remove_listener(*this);
}

Rail::Attachment* Rail::find(const SliceSource& source) const noexcept {
  for (const auto& attachment : attachments_) {
    if (attachment->source_ == &source) return attachment.get();
  }
  return nullptr;
}

Result<void> Rail::attach(SliceSource& source) {
  CORAIL_CHECK(find(source) == nullptr, "a share is attached once");
  const RailStatus now = status();
  if (now.state != RailState::kReady) {
    return Error(Errc::kConnectionLost, Stage::kSubmit, "the rail is not ready: " + now.why)
        .on_rail(name_);
  }
  auto attachment = std::make_unique<Attachment>(*this, source);
  join_turns(*attachment);
  attachments_.push_back(std::move(attachment));
  pump();
  return ok_result();
}

void Rail::join_turns(Attachment& attachment) const noexcept {
  const auto got = [](const Attachment& of) { return of.turn_bytes_ - of.bytes_in_flight_; };
  std::optional<std::uint64_t> least;
  for (const auto& other : attachments_) {
    if (other.get() == &attachment || other->dry_ || other->source_ == nullptr) continue;
    least = std::min(least.value_or(got(*other)), got(*other));
  }
  const std::uint64_t joins_at = least ? *least + attachment.bytes_in_flight_ : last_turn_;
  attachment.turn_bytes_ = std::max(attachment.turn_bytes_, joins_at);
}

void Rail::back_in_turn(Attachment& attachment) const noexcept {
  if (std::exchange(attachment.dry_, false)) join_turns(attachment);
}

void Rail::ask_again(SliceSource& source) {
  Attachment* attachment = find(source);
  CORAIL_CHECK(attachment != nullptr, "only an attached share is asked");
  back_in_turn(*attachment);
  schedule_pump();
}

void Rail::detach(SliceSource& source) {
  Attachment* attachment = find(source);
  CORAIL_CHECK(attachment != nullptr, "only an attached share can be detached");
  CORAIL_CHECK(attachment->slices_in_flight_ == 0, "posted slices outlive no share (I6)");
  forget(*attachment);
}

void Rail::abandon(SliceSource& source) {
  Attachment* attachment = find(source);
  CORAIL_CHECK(attachment != nullptr, "only an attached share can be abandoned");
  attachment->source_ = nullptr;
  // The memory is lost; that shall not narrow the port for ever as well.
  port_place_.ended(attachment->bytes_in_flight_);
  if (attachment->slices_in_flight_ == 0) forget(*attachment);
}

void Rail::forget(const Attachment& attachment) {
  attachments_.remove_if([&](const auto& entry) { return entry.get() == &attachment; });
  if (attachments_.empty()) life_changed_.notify();
}

Duration Rail::submit_time(const SliceSource& source) const {
  const Attachment* attachment = find(source);
  return attachment == nullptr ? Duration{} : attachment->submit_time_;
}

Task<Result<void>> Rail::fence(SliceSource& source, TimePoint deadline) {
  Attachment* attachment = find(source);
  CORAIL_CHECK(attachment != nullptr, "only an attached share can be fenced");
  const std::uint64_t generation = health_.generation();
  // What it flushes, also of others, is our doing.
  health_.fence_began(generation);
  auto fenced = co_await transport_->fence(*attachment, deadline);
  health_.fence_ended(generation);
  if (!fenced) co_return std::move(fenced).error().on_rail(name_);
  co_return ok_result();
}

Task<Result<void>> Rail::grant(SliceSource& source, std::vector<std::span<std::byte>> memory,
                               TimePoint deadline) {
  Attachment* attachment = find(source);
  CORAIL_CHECK(attachment != nullptr, "only an attached share can let its owner write");
  auto granted = co_await transport_->grant(*attachment, std::move(memory), deadline);
  if (!granted) co_return std::move(granted).error().on_rail(name_);
  co_return ok_result();
}

Task<void> Rail::revoke(SliceSource& source) {
  Attachment* attachment = find(source);
  CORAIL_CHECK(attachment != nullptr, "only an attached share has let its owner write");
  CORAIL_CHECK(attachment->slices_in_flight_ == 0, "nobody writes any more (I1)");
  co_await transport_->revoke(*attachment);
}

void Rail::schedule_pump() {
  if (pump_scheduled_) return;
  pump_scheduled_ = true;
  asio::post(executor_, [self = self_] {
    if (*self == nullptr) return;
    (*self)->pump_scheduled_ = false;
    (*self)->pump();
  });
}

Rail::Attachment* Rail::next_in_turn() const noexcept {
  Attachment* chosen = nullptr;
  if (port_place_.waiting()) return chosen;
  for (const auto& attachment : attachments_) {
    if (attachment->dry_ || attachment->source_ == nullptr || room_for(*attachment) == 0) continue;
    if (chosen == nullptr || attachment->turn_bytes_ < chosen->turn_bytes_) {
      chosen = attachment.get();
    }
  }
  return chosen;
}

std::uint64_t Rail::whole_slice() const noexcept {
  return std::min({window_.slice_bytes(), capabilities().max_slice_bytes, port_place_.most()});
}

std::uint64_t Rail::room_for(const Attachment& attachment) const noexcept {
  const std::uint64_t whole = whole_slice();
  if (posted_.empty()) return whole;
  // One slice is the probe; the others wait for what becomes of it.
  if (health_.breaker() == BreakerState::kHalfOpen) return 0;
  const bool idle = attachment.slices_in_flight_ == 0;
  const std::size_t slots = capabilities().max_slices;
  if (posted_.size() + (idle ? 0 : std::min(kAssuredSlots, slots / 4)) >= slots) return 0;
  // Only for a whole slice: a window that is nearly full would cut crumbs.
  const std::uint64_t window = window_.bytes();
  if (bytes_in_flight_ + whole <= window) return whole;
  // A small read would otherwise wait for as much as large ones have in flight. The peer serves
  // reads in turns, so a slice of its own is all that it needs there.
  const std::uint64_t beyond = window / kWindowParts;
  const std::uint64_t assured = std::min({whole, kAssuredSliceBytes, beyond});
  return idle && bytes_in_flight_ + assured <= window + beyond ? assured : 0;
}

void Rail::pump() {
  while (!condemned_) {
    Attachment* const attachment = next_in_turn();
    if (attachment == nullptr) break;
    post_batch(*attachment);
  }
  port_place_.settle();
}

void Rail::post_batch(Attachment& attachment) {
  const TimePoint begin = machine_now();
  const TimePoint now = clock_.now();
  std::array<Slice, kMaxPostBatch> batch;
  std::size_t count = 0;
  // Whoever comes next has had the least, so that two shares which always have slices are never
  // further apart than a turn and a slice.
  const std::uint64_t turn_ends = attachment.turn_bytes_ + kShareTurnBytes;
  const bool alone = attachments_.size() == 1;
  last_turn_ = std::max(last_turn_, attachment.turn_bytes_);
  while (count < batch.size() && (alone || attachment.turn_bytes_ < turn_ends)) {
    const std::uint64_t room = room_for(attachment);
    if (room == 0) break;
    attachment.dry_ = !attachment.source_->has_more();
    // Last of all: what is reserved of the port's budget is kept from other rails.
    if (attachment.dry_ || !port_place_.reserve(room)) break;
    const std::optional<Slice> slice = attachment.source_->next(room);
    if (!slice) {
      attachment.dry_ = true;
      break;
    }
    batch[count++] = *slice;
    posted_.add(attachment, slice->tag, now);
    window_.posted(now);
    port_place_.posted(slice->length);
    bytes_in_flight_ += slice->length;
    attachment.turn_bytes_ += slice->length;
    attachment.bytes_in_flight_ += slice->length;
    ++attachment.slices_in_flight_;
    ++counters_.reads;
  }
  if (count > 0) {
    if (!watching_) arm_watchdog(now + options_.watchdog);
    transport_->post(attachment.source_->context(), std::span(batch.data(), count), attachment);
  }
  attachment.submit_time_ += machine_now() - begin;
  // Sending is the transport's time, within the wait.
  if (count > 0) transport_->flush();
}

}  // namespace corail
