#include "test/support/virtual_world.h"

namespace corail::test {

/// Handlers at one instant, at the most: more are a loop that never ends.
constexpr std::size_t kMaxHandlersPerInstant = 10'000'000;

asio::io_context& VirtualWorld::add_context() {
  more_.push_back(std::make_unique<asio::io_context>(1));
  return *more_.back();
}

bool VirtualWorld::run_one() {
  const std::size_t contexts = more_.size() + 1;
  if (random_ != nullptr && contexts > 1) turn_ = random_->below(contexts);
  for (std::size_t i = 0; i < contexts; ++i) {
    asio::io_context& context = turn_ == 0 ? context_ : *more_[turn_ - 1];
    turn_ = (turn_ + 1) % contexts;
    context.restart();
    if (context.poll_one() > 0) return true;
  }
  return false;
}

void VirtualWorld::settle() {
  std::size_t handled = 0;
  while (run_one()) {
    if (++handled > kMaxHandlersPerInstant) {
      throw std::logic_error("handlers go on for ever without any time passing");
    }
  }
}

void VirtualWorld::run_until_idle() {
  while (step()) {
  }
}

void VirtualWorld::run_until(TimePoint when) {
  TimePoint next;
  settle();
  while (clock_.next_due(next) && next <= when) {
    clock_.advance_to(next);
    settle();
  }
  clock_.advance_to(when);
  settle();
}

bool VirtualWorld::step() {
  if (run_one()) return true;
  TimePoint next;
  if (!clock_.next_due(next)) return false;
  clock_.advance_to(next);
  return true;
}

}  // namespace corail::test
