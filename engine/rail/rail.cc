#include "engine/rail/rail.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <asio/post.hpp>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/check.h"

namespace corail {

/// Slices handed to the transport in one call, at most (I8).
constexpr std::size_t kMaxPostBatch = 16;

namespace {

/// Only the transport's faults are the path's; a flush is somebody's fence (contract 6).
bool is_path_fault(const Error& error) {
  return error.error_class() == ErrorClass::kTransport && error.code() != Errc::kFlushed;
}

}  // namespace

/// Stands between the transport and a share: frees the rail's window before the share learns of an
/// outcome.
class Rail::Attachment final : public SliceSink {
 public:
  Attachment(Rail& rail, SliceSource& source) : rail_(rail), source_(&source) {}

  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override {
    if (source_ != nullptr) source_->on_landed(slice, from, to);
  }

  void on_outcome(const Slice& slice, Result<void> outcome) noexcept override {
    rail_.bytes_in_flight_ -= slice.length;
    --rail_.slices_in_flight_;
    bytes_in_flight_ -= slice.length;
    --slices_in_flight_;
    if (outcome.ok()) {
      rail_.counters_.bytes += slice.length;
    } else if (is_path_fault(outcome.error())) {
      ++rail_.counters_.errors;
    }
    dry_ = false;
    // Posting from inside an outcome would re-enter the transport: the pump runs later, once per
    // batch.
    rail_.schedule_pump();
    if (source_ != nullptr) {
      source_->on_outcome(slice, std::move(outcome));
    } else if (slices_in_flight_ == 0) {
      rail_.forget(*this);
    }
  }

  Rail& rail_;
  SliceSource* source_;  // null once abandoned
  std::uint64_t bytes_in_flight_ = 0;
  std::uint64_t turn_bytes_ = 0;  // posted; equal for shares that have had equal turns
  std::uint32_t slices_in_flight_ = 0;
  Duration submit_time_{};
  bool dry_ = false;  // had nothing when it was asked last
};

Rail::Rail(std::string name, asio::any_io_executor executor, Clock& clock,
           std::unique_ptr<Transport> transport, RailWindow window)
    : name_(std::move(name)),
      executor_(std::move(executor)),
      clock_(clock),
      transport_(std::move(transport)),
      window_(window),
      close_changed_(executor_),
      scope_(executor_),
      self_(std::make_shared<Rail*>(this)) {}

Rail::~Rail() {
  CORAIL_CHECK(attachments_.empty(), "a rail outlives every read that uses it (I6)");
  *self_ = nullptr;
}

Task<Result<void>> Rail::connect(RailEndpoint remote, TimePoint deadline) {
  auto connected = co_await transport_->connect(std::move(remote), deadline);
  if (!connected) co_return std::move(connected).error().at(Stage::kConnect).on_rail(name_);
  co_return ok_result();
}

Rail::Attachment* Rail::find(const SliceSource& source) const noexcept {
  for (const auto& attachment : attachments_) {
    if (attachment->source_ == &source) return attachment.get();
  }
  return nullptr;
}

void Rail::attach(SliceSource& source) {
  CORAIL_CHECK(find(source) == nullptr, "a share is attached once");
  auto attachment = std::make_unique<Attachment>(*this, source);
  // A new share comes next, but has no claim to what the others got before it. What they have in
  // flight they do not have yet.
  if (!attachments_.empty()) {
    const auto got = [](const auto& other) { return other->turn_bytes_ - other->bytes_in_flight_; };
    const auto least =
        std::min_element(attachments_.begin(), attachments_.end(),
                         [&](const auto& a, const auto& b) { return got(a) < got(b); });
    attachment->turn_bytes_ = got(*least);
  }
  attachments_.push_back(std::move(attachment));
  pump();
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
  if (attachment->slices_in_flight_ == 0) forget(*attachment);
}

void Rail::forget(const Attachment& attachment) {
  attachments_.remove_if([&](const auto& entry) { return entry.get() == &attachment; });
}

Duration Rail::submit_time(const SliceSource& source) const {
  const Attachment* attachment = find(source);
  return attachment == nullptr ? Duration{} : attachment->submit_time_;
}

Task<Result<void>> Rail::fence(SliceSource& source, TimePoint deadline) {
  Attachment* attachment = find(source);
  CORAIL_CHECK(attachment != nullptr, "only an attached share can be fenced");
  auto fenced = co_await transport_->fence(*attachment, deadline);
  if (!fenced) co_return std::move(fenced).error().on_rail(name_);
  co_return ok_result();
}

void Rail::begin_close() {
  if (std::exchange(closing_, true)) return;
  scope_.spawn(close_transport());
}

Task<void> Rail::close_transport() {
  co_await transport_->close();
  closed_ = true;
  close_changed_.notify();
}

Task<Result<void>> Rail::close() {
  begin_close();
  bool expired = false;
  const auto timer = clock_.make_timer(executor_);
  timer->wait_until(clock_.now() + kRailCloseTime, [this, &expired](bool) {
    expired = true;
    close_changed_.notify();
  });
  while (!closed_ && !expired) co_await close_changed_.wait();
  if (!closed_) {
    co_return Error(
        Errc::kStuck, Stage::kClose,
        fmt::format("the rail's device has not closed it within {} s; check the device, and "
                    "restart this process to have its memory back",
                    std::chrono::duration_cast<std::chrono::seconds>(kRailCloseTime).count()))
        .on_rail(name_);
  }
  co_await scope_.join();
  co_return ok_result();
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
  for (const auto& attachment : attachments_) {
    if (attachment->dry_ || attachment->source_ == nullptr) continue;
    if (chosen == nullptr || attachment->turn_bytes_ < chosen->turn_bytes_) {
      chosen = attachment.get();
    }
  }
  return chosen;
}

std::uint64_t Rail::whole_slice() const noexcept {
  return std::min({window_.max_slice_bytes, window_.bytes, capabilities().max_slice_bytes});
}

bool Rail::has_room() const noexcept {
  if (slices_in_flight_ == 0) return true;
  if (slices_in_flight_ >= capabilities().max_slices) return false;
  // Only for a whole slice: a window that is nearly full would cut crumbs.
  return bytes_in_flight_ + whole_slice() <= window_.bytes;
}

void Rail::pump() {
  while (has_room()) {
    Attachment* attachment = next_in_turn();
    if (attachment == nullptr) return;
    post_batch(*attachment);
  }
}

void Rail::post_batch(Attachment& attachment) {
  const TimePoint begin = machine_now();
  const std::uint64_t limit = whole_slice();
  std::array<Slice, kMaxPostBatch> batch;
  std::size_t count = 0;
  // Shares take turns by bytes; alone on the rail, one share fills whole batches.
  const std::size_t most = attachments_.size() == 1 ? batch.size() : 1;
  while (count < most && has_room()) {
    const std::optional<Slice> slice = attachment.source_->next(limit);
    if (!slice) {
      attachment.dry_ = true;
      break;
    }
    batch[count++] = *slice;
    bytes_in_flight_ += slice->length;
    ++slices_in_flight_;
    attachment.turn_bytes_ += slice->length;
    attachment.bytes_in_flight_ += slice->length;
    ++attachment.slices_in_flight_;
    ++counters_.reads;
  }
  if (count > 0) {
    transport_->post(attachment.source_->context(), std::span(batch.data(), count), attachment);
  }
  attachment.submit_time_ += machine_now() - begin;
}

}  // namespace corail
