#include "test/support/virtual_world.h"

namespace corail::test {

/// Handlers at one instant, at the most: more are a loop that never ends.
constexpr std::size_t kMaxHandlersPerInstant = 10'000'000;

void VirtualWorld::settle() {
  std::size_t handled = 0;
  while (true) {
    context_.restart();
    const std::size_t now = context_.poll();
    if (now == 0) return;
    handled += now;
    if (handled > kMaxHandlersPerInstant) {
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
  context_.restart();
  if (context_.poll_one() > 0) return true;
  TimePoint next;
  if (!clock_.next_due(next)) return false;
  clock_.advance_to(next);
  return true;
}

}  // namespace corail::test
