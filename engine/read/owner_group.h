#pragma once

#include <cstddef>
#include <vector>

#include "engine/read/owner.h"

namespace corail {

/// The owners of one object as one: a read is confirmed only when each of them has said yes, and
/// the object's home node last, whose word is about the object as a whole (contract 2). The owners
/// outlive it. On the read's home executor, as its members.
class OwnerGroup final : public Owner {
 public:
  /// At least one owner; `home` is an index of theirs.
  OwnerGroup(std::vector<Owner*> owners, std::size_t home);

  /// Asks all but home at once, then home where all have agreed. Fails with the first no, in the
  /// order of the owners.
  Task<Result<void>> confirm_and_release(ReadId read, TimePoint deadline,
                                         CancelToken cancel) override;
  Task<Result<void>> confirm(ReadId read, TimePoint deadline, CancelToken cancel) override;
  /// Tells all, home last, also where some cannot be told: fails with the first that could not.
  Task<Result<void>> release(ReadId read, TimePoint deadline) override;

 private:
  enum class Question { kConfirmAndRelease, kConfirm, kRelease };

  Task<Result<void>> ask(Owner* owner, Question question, ReadId read, TimePoint deadline,
                         CancelToken cancel);
  Task<Result<void>> ask_others(Question question, ReadId read, TimePoint deadline,
                                CancelToken cancel);
  Task<Result<void>> ask_home_last(Question question, ReadId read, TimePoint deadline,
                                   CancelToken cancel);

  const std::vector<Owner*> owners_;
  const std::size_t home_;
};

}  // namespace corail
