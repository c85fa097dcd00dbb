#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/read/owner.h"

namespace corail {

/// The owners of one object as one: a read is confirmed only when each of them has said yes, and
/// the object's home node last, whose word is about the object as a whole (contract 2). The owners
/// outlive it. On the read's home executor, as its members.
class OwnerGroup final : public Owner {
 public:
  struct Member {
    NodeId node;
    Owner* owner = nullptr;
  };

  /// `home` is an index of the members. Fails with kInvalidArgument where it is none, or where a
  /// node is named twice: it would be asked twice, and its second yes would be another's.
  static Result<std::unique_ptr<OwnerGroup>> make(const std::vector<Member>& members,
                                                  std::size_t home);

  std::span<const NodeId> members() const noexcept override { return nodes_; }

  /// Asks all but home at once, then home where all have agreed. The first that does not agree ends
  /// the question for the others, who are not waited for. Fails with what a peer has answered
  /// rather than with that nobody knows, and else in the order of the owners.
  Task<Result<void>> confirm_and_release(ReadId read, TimePoint deadline,
                                         CancelToken cancel) override;
  Task<Result<void>> confirm(ReadId read, TimePoint deadline, CancelToken cancel) override;
  /// Tells all at once, and ends when all have answered: fails as above.
  Task<Result<void>> release(ReadId read, TimePoint deadline) override;

 private:
  enum class Question { kConfirmAndRelease, kConfirm, kRelease };

  OwnerGroup(std::vector<NodeId> nodes, std::vector<Owner*> owners, std::size_t home);
  Task<Result<void>> ask(Owner* owner, Question question, ReadId read, TimePoint deadline,
                         CancelToken cancel);
  Task<Result<void>> ask_others(Question question, ReadId read, TimePoint deadline,
                                CancelToken cancel);
  Task<Result<void>> ask_home_last(Question question, ReadId read, TimePoint deadline,
                                   CancelToken cancel);

  const std::vector<NodeId> nodes_;
  const std::vector<Owner*> owners_;  // by index in nodes_
  const std::size_t home_;
};

}  // namespace corail
