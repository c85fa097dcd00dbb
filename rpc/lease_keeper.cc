#include "rpc/lease_keeper.h"

#include <algorithm>
#include <utility>

#include "engine/base/log.h"
#include "engine/exec/sleep.h"

namespace corail {
namespace {

/// Below this much time left a renewal is not worth its message (I8): halving would never end.
constexpr Duration kLeastPause = std::chrono::milliseconds(10);
/// How long a renewal is waited for before the next one is sent.
constexpr Duration kAnswerTime = std::chrono::seconds(10);

}  // namespace

LeaseKeeper::LeaseKeeper(asio::any_io_executor home, Clock& clock, SessionClient& session,
                         const Lease& lease, std::function<void(TimePoint)> extended)
    : clock_(clock),
      session_(session),
      lease_(lease),
      extended_(std::move(extended)),
      timer_(clock.make_timer(home)),
      scope_(home) {}

void LeaseKeeper::start() { scope_.spawn(keep()); }

Task<void> LeaseKeeper::stop() {
  stopped_ = true;
  timer_->cancel();
  cancel_.fire();
  co_await scope_.join();
}

Task<void> LeaseKeeper::keep() {
  while (!stopped_) {
    const Duration pause = (lease_.ends - clock_.now()) / 2;
    if (pause < kLeastPause) co_return;
    const bool due = co_await sleep_until(*timer_, clock_.now() + pause);
    if (!due || stopped_) co_return;
    const bool go_on = co_await renew();
    if (!go_on) co_return;
  }
}

/// False where the holder has said that there is nothing to be renewed.
Task<bool> LeaseKeeper::renew() {
  const TimePoint sent = clock_.now();
  // Half of what is left, so that there is time to ask again.
  const Duration patience = std::min(kAnswerTime, (lease_.ends - sent) / 2);
  const CallOptions options{sent + patience, &cancel_};
  auto granted = co_await session_.renew(lease_.read, lease_.ttl, options);
  if (granted.ok()) {
    // Never less than before: an answer that came late may have been granted early.
    lease_.ends = std::max(lease_.ends, sent + *granted - lease_.margin);
    if (!stopped_) extended_(lease_.ends);
    co_return true;
  }
  const Errc code = granted.error().code();
  if (!stopped_) {
    log(LogLevel::kInfo, "read {} was not renewed: {}", lease_.read.value(),
        granted.error().to_string());
  }
  co_return code == Errc::kDeadline || code == Errc::kBusy;
}

}  // namespace corail
