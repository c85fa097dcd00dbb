#include "engine/exec/sleep.h"

#include <asio/this_coro.hpp>
#include <memory>

#include "engine/exec/suspension.h"

namespace corail {
namespace {

/// Shared with the timer's callback, which may still be queued when the frame is gone.
struct Nap {
  explicit Nap(const asio::any_io_executor& executor) : place(executor) {}
  Suspension place;
  bool expired = false;
};

}  // namespace

Task<bool> sleep_until(Timer& timer, TimePoint when) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto nap = std::make_shared<Nap>(executor);
  // The timer promises not to call back from within the call, so nobody can wake us too early.
  timer.wait_until(when, [nap](bool expired) {
    nap->expired = expired;
    nap->place.resume_inline();
  });
  co_await nap->place.suspend();
  co_return nap->expired;
}

}  // namespace corail
