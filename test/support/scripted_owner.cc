#include "test/support/scripted_owner.h"

#include <utility>

#include "engine/exec/sleep.h"

namespace corail::test {

Task<Result<void>> ScriptedOwner::answer(OwnerAnswer how, TimePoint deadline) {
  const auto timer = clock_.make_timer(executor_);
  const TimePoint when = clock_.now() + how.delay;
  if (how.never || when > deadline) {
    co_await sleep_until(*timer, deadline);
    co_return Error(Errc::kDeadline, "the owner did not answer");
  }
  if (how.delay.count() > 0) co_await sleep_until(*timer, when);
  co_return std::move(how.result);
}

Task<Result<void>> ScriptedOwner::confirm_and_release(ReadId read, TimePoint deadline) {
  ++confirms;
  if (on_confirm) on_confirm();
  auto result = co_await answer(confirm_answer, deadline);
  if (result) leased_.erase(read);
  co_return result;
}

Task<Result<void>> ScriptedOwner::confirm(ReadId read, TimePoint deadline) {
  ++confirms_to_keep;
  auto result = co_await confirm_and_release(read, deadline);
  co_return result;
}

Task<Result<void>> ScriptedOwner::quiesce(ReadId, TimePoint deadline) {
  ++quiesces;
  auto result = co_await answer(quiesce_answer, deadline);
  co_return result;
}

Task<Result<void>> ScriptedOwner::release(ReadId read, TimePoint deadline) {
  ++releases;
  leased_.erase(read);
  auto result = co_await answer(release_answer, deadline);
  co_return result;
}

}  // namespace corail::test
