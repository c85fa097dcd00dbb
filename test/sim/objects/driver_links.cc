// The user's connections to the holder.
#include <utility>

#include "test/sim/objects/driver.h"
#include "test/sim/scenario.h"

namespace corail::sim {
namespace {

using std::chrono::milliseconds;

/// A device that does not close comes back within this time, at most.
constexpr Duration kStuckTime = milliseconds(60);
constexpr Duration kLatest = milliseconds(10);  // of a control message

}  // namespace

ObjectLink& ObjectDriver::new_link() {
  ObjectLink& link = links_.emplace_back();
  link.number = links_.size() - 1;
  link.wire = &link;
  link.faults.random = &random_;
  if (draw_chance(random_, setup_.scenario.late_streams)) {
    link.faults.late_one_in = static_cast<std::uint32_t>(draw_between(random_, 1, 8));
    link.faults.max_delay = draw_time(random_, kLatest);
  }
  ++counts_.links;
  return link;
}

/// The present one, or a new one; null where there is none to be had now.
Task<ObjectLink*> ObjectDriver::any_link() {
  if (current_ != nullptr || connecting_ || !holder_up_) co_return current_;
  connecting_ = true;
  ObjectLink& link = new_link();
  scope_.spawn(unstick_later(link.number, setup_.scenario.user.options.call_deadline));
  auto connected = co_await user_->connect(link, *holders_.back());
  connecting_ = false;
  setup_.model.journal().event("link {}: {}", link.number,
                               connected.ok() ? "connected" : connected.error().to_string());
  if (connected) {
    current_ = &link;
  } else {
    link.retired = true;
    count_failure(connected.error(), link);
  }
  co_return current_;
}

void ObjectDriver::retire(ObjectLink& link) {
  link.retired = true;
  if (current_ == &link) current_ = nullptr;
  scope_.spawn(close_link(&link));
  const Duration stuck = draw_time(random_, kStuckTime);
  scope_.spawn(unstick_later(link.number, stuck));
}

Task<void> ObjectDriver::close_link(ObjectLink* link) {
  setup_.model.journal().event("link {} is closed", link->number);
  const auto peer = link->peer;
  co_await peer->close();
  link->peer.reset();
}

Task<void> ObjectDriver::unstick_later(std::size_t link, Duration after) {
  co_await sleep(after);
  // Whoever is connected may have rails whose devices stay stuck for as long as the fault wants.
  if (link < links_.size() && links_[link].connected && !links_[link].retired) co_return;
  user_->unstick(link);
}

}  // namespace corail::sim
