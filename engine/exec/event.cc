#include "engine/exec/event.h"

namespace corail {

void Event::notify() {
  if (waiter_.suspended()) {
    waiter_.resume();
  } else {
    pending_ = true;
  }
}

Task<void> Event::wait() {
  // A remembered notification costs no trip through the queue.
  if (pending_) {
    pending_ = false;
    co_return;
  }
  co_await waiter_.suspend();
}

}  // namespace corail
