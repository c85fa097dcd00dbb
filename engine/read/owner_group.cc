#include "engine/read/owner_group.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/this_coro.hpp>
#include <functional>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/when_all.h"

namespace corail {

namespace {

/// How little an error says about what was asked: an answer says most, that it was given up least.
int vagueness(const Error& error) noexcept {
  switch (error.error_class()) {
    case ErrorClass::kCancelled:
      return 2;
    case ErrorClass::kTransport:
    case ErrorClass::kDeadline:
      return 1;
    default:
      return 0;
  }
}

/// The first of those that say most.
Result<void> clearest(std::vector<Result<void>> answers) {
  const auto rank = [](const Result<void>& answer) {
    return answer.ok() ? 3 : vagueness(answer.error());
  };
  const auto found = std::ranges::min_element(answers, {}, rank);
  if (found == answers.end()) return ok_result();
  return std::move(*found);
}

}  // namespace

Result<std::unique_ptr<OwnerGroup>> OwnerGroup::make(const std::vector<Member>& members,
                                                     std::size_t home) {
  std::vector<NodeId> nodes;
  std::vector<Owner*> owners;
  for (const Member& member : members) {
    CORAIL_CHECK(member.owner != nullptr, "a member of a group of owners has an owner");
    if (std::ranges::find(nodes, member.node) != nodes.end()) {
      return Error(
          Errc::kInvalidArgument,
          fmt::format("node {} is named twice as an owner of one object", member.node.value()));
    }
    nodes.push_back(member.node);
    owners.push_back(member.owner);
  }
  if (home >= owners.size()) {
    return Error(Errc::kInvalidArgument,
                 fmt::format("owner {} of {}, counted from 0, cannot be an object's home", home,
                             owners.size()));
  }
  return std::unique_ptr<OwnerGroup>(new OwnerGroup(std::move(nodes), std::move(owners), home));
}

OwnerGroup::OwnerGroup(std::vector<NodeId> nodes, std::vector<Owner*> owners, std::size_t home)
    : nodes_(std::move(nodes)), owners_(std::move(owners)), home_(home) {}

Task<Result<void>> OwnerGroup::ask(Owner* owner, Question question, ReadId read, TimePoint deadline,
                                   CancelToken cancel) {
  Result<void> answer;
  switch (question) {
    case Question::kConfirmAndRelease:
      answer = co_await owner->confirm_and_release(read, deadline, cancel);
      break;
    case Question::kConfirm:
      answer = co_await owner->confirm(read, deadline, cancel);
      break;
    case Question::kRelease:
      answer = co_await owner->release(read, deadline);
      break;
  }
  co_return answer;
}

Task<Result<void>> OwnerGroup::ask_others(Question question, ReadId read, TimePoint deadline,
                                          CancelToken cancel) {
  const auto executor = co_await asio::this_coro::executor;
  // The question is over when the caller says so, and when one has not agreed.
  CancelToken over;
  const auto subscription = cancel.subscribe([over]() mutable { over.cancel(); });
  std::vector<Branch<void>> branches;
  branches.reserve(owners_.size());
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    if (i == home_ && question != Question::kRelease) continue;
    branches.emplace_back(executor, ask(owners_[i], question, read, deadline, over));
  }
  std::function<void(const Error&)> on_first_no = [over](const Error&) mutable { over.cancel(); };
  auto answers = co_await when_all(std::move(branches), std::move(on_first_no));
  co_return clearest(std::move(answers));
}

Task<Result<void>> OwnerGroup::ask_home_last(Question question, ReadId read, TimePoint deadline,
                                             CancelToken cancel) {
  auto others = co_await ask_others(question, read, deadline, cancel);
  if (!others) co_return others;
  auto home = co_await ask(owners_[home_], question, read, deadline, cancel);
  co_return home;
}

Task<Result<void>> OwnerGroup::confirm_and_release(ReadId read, TimePoint deadline,
                                                   CancelToken cancel) {
  return ask_home_last(Question::kConfirmAndRelease, read, deadline, std::move(cancel));
}

Task<Result<void>> OwnerGroup::confirm(ReadId read, TimePoint deadline, CancelToken cancel) {
  return ask_home_last(Question::kConfirm, read, deadline, std::move(cancel));
}

Task<Result<void>> OwnerGroup::release(ReadId read, TimePoint deadline) {
  return ask_others(Question::kRelease, read, deadline, CancelToken());
}

}  // namespace corail
