#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>

#include "engine/base/clock.h"
#include "engine/read/owner.h"

namespace corail::test {

/// How an owner answers one kind of question.
struct OwnerAnswer {
  OwnerAnswer() : result(ok_result()) {}
  OwnerAnswer(Result<void> what, Duration after) : result(std::move(what)), delay(after) {}

  Result<void> result;
  Duration delay{0};
  bool never = false;  // the deadline has to end it
};

inline OwnerAnswer never_answers() {
  OwnerAnswer answer;
  answer.never = true;
  return answer;
}

/// An owner that does as it is told, and remembers what it was asked.
class ScriptedOwner final : public Owner {
 public:
  ScriptedOwner(asio::any_io_executor executor, Clock& clock)
      : executor_(std::move(executor)), clock_(clock) {}

  /// A read begins that has a lease here, until it says that it needs it no more.
  void lease(ReadId read) { leased_.insert(read); }
  std::size_t leases() const noexcept { return leased_.size(); }

  Task<Result<void>> confirm_and_release(ReadId read, TimePoint deadline,
                                         CancelToken cancel) override;
  Task<Result<void>> confirm(ReadId read, TimePoint deadline, CancelToken cancel) override;
  Task<Result<void>> release(ReadId read, TimePoint deadline) override;

  OwnerAnswer confirm_answer;
  OwnerAnswer release_answer;
  /// Called when asked, before the answer's delay.
  std::function<void()> on_confirm;

  std::size_t confirms = 0;          // of both kinds
  std::size_t confirms_to_keep = 0;  // those that keep the lease
  std::size_t releases = 0;

 private:
  Task<Result<void>> answer(OwnerAnswer how, TimePoint deadline, CancelToken cancel);

  const asio::any_io_executor executor_;
  Clock& clock_;
  std::set<ReadId> leased_;
};

}  // namespace corail::test
