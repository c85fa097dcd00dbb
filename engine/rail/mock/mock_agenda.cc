#include "engine/rail/mock/mock_agenda.h"

#include <utility>

namespace corail {

/// Events handled before others on the executor get a turn (I8): in real time a link can be faster
/// than the copying.
constexpr std::size_t kMaxEventsPerRound = 64;

MockAgenda::MockAgenda(asio::any_io_executor executor, Clock& clock,
                       std::function<void(const MockEvent&)> handle)
    : clock_(clock), handle_(std::move(handle)), timer_(clock.make_timer(std::move(executor))) {}

void MockAgenda::add(TimePoint when, MockEvent event) {
  events_.emplace(when, std::move(event));
  arm();
}

void MockAgenda::replace_packets(
    OpKey op, const std::function<std::optional<MockEvent>(const MockEvent&)>& change) {
  for (auto entry = events_.begin(); entry != events_.end();) {
    if (entry->second.kind != MockEvent::Kind::kPacket || entry->second.op != op) {
      ++entry;
      continue;
    }
    std::optional<MockEvent> changed = change(entry->second);
    if (changed) {
      entry->second = std::move(*changed);
      ++entry;
    } else {
      entry = events_.erase(entry);
    }
  }
}

void MockAgenda::clear() {
  events_.clear();
  arm();
}

void MockAgenda::arm() {
  if (running_) return;
  if (events_.empty()) {
    if (std::exchange(armed_for_, std::nullopt)) timer_->cancel();
    return;
  }
  const TimePoint next = events_.begin()->first;
  if (armed_for_ == next) return;
  armed_for_ = next;
  timer_->wait_until(next, [this](bool expired) {
    if (expired) run_due();
  });
}

void MockAgenda::run_due() {
  armed_for_.reset();
  running_ = true;
  const TimePoint now = clock_.now();
  for (std::size_t i = 0; i < kMaxEventsPerRound && !events_.empty(); ++i) {
    if (events_.begin()->first > now) break;
    const auto node = events_.extract(events_.begin());
    handle_(node.mapped());
  }
  running_ = false;
  arm();
}

}  // namespace corail
