#include "engine/read/owner_group.h"

#include <asio/this_coro.hpp>
#include <functional>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/when_all.h"

namespace corail {

OwnerGroup::OwnerGroup(std::vector<Owner*> owners, std::size_t home)
    : owners_(std::move(owners)), home_(home) {
  CORAIL_CHECK(home_ < owners_.size(), "a group of owners has its home among them");
}

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
  std::vector<Branch<void>> branches;
  branches.reserve(owners_.size());
  for (std::size_t i = 0; i < owners_.size(); ++i) {
    if (i == home_) continue;
    branches.emplace_back(executor, ask(owners_[i], question, read, deadline, cancel));
  }
  auto answers = co_await when_all(std::move(branches), std::function<void(const Error&)>());
  for (auto& answer : answers) {
    if (!answer) co_return std::move(answer).error();
  }
  co_return ok_result();
}

Task<Result<void>> OwnerGroup::ask_home_last(Question question, ReadId read, TimePoint deadline,
                                             CancelToken cancel) {
  auto others = co_await ask_others(question, read, deadline, cancel);
  if (!others && question != Question::kRelease) co_return others;
  auto home = co_await ask(owners_[home_], question, read, deadline, cancel);
  if (!others) co_return others;
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
  return ask_home_last(Question::kRelease, read, deadline, CancelToken());
}

}  // namespace corail
