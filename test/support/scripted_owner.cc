#include "test/support/scripted_owner.h"

#include <asio/post.hpp>
#include <memory>
#include <utility>

#include "engine/exec/sleep.h"

namespace corail::test {

Task<Result<void>> ScriptedOwner::answer(OwnerAnswer how, TimePoint deadline, CancelToken cancel) {
  const std::shared_ptr<Timer> timer = clock_.make_timer(executor_);
  const auto subscription = cancel.subscribe([home = executor_, weak = std::weak_ptr(timer)] {
    asio::post(home, [weak] {
      if (const auto waiting = weak.lock()) waiting->cancel();
    });
  });
  const TimePoint when = clock_.now() + how.delay;
  const bool late = how.never || when > deadline;
  const TimePoint until = late ? deadline : when;
  bool waited = true;
  if (late || how.delay.count() > 0) waited = co_await sleep_until(*timer, until);
  if (!waited) co_return Error(Errc::kCancelled, "nobody waits for the answer");
  if (late) co_return Error(Errc::kDeadline, "the owner did not answer");
  co_return std::move(how.result);
}

Task<Result<void>> ScriptedOwner::confirm_and_release(ReadId read, TimePoint deadline,
                                                      CancelToken cancel) {
  ++confirms;
  if (on_confirm) on_confirm();
  auto result = co_await answer(confirm_answer, deadline, cancel);
  if (result) leased_.erase(read);
  co_return result;
}

Task<Result<void>> ScriptedOwner::confirm(ReadId read, TimePoint deadline, CancelToken cancel) {
  ++confirms_to_keep;
  auto result = co_await confirm_and_release(read, deadline, cancel);
  leased_.insert(read);
  co_return result;
}

Task<Result<void>> ScriptedOwner::release(ReadId read, TimePoint deadline) {
  ++releases;
  leased_.erase(read);
  auto result = co_await answer(release_answer, deadline, CancelToken());
  co_return result;
}

}  // namespace corail::test
