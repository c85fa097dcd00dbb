#include "engine/verbs/send_queue_account.h"

#include <algorithm>

#include "engine/base/check.h"

namespace corail {

void SendQueueAccount::posted(std::uint64_t request, bool signalled) {
  posted_.push_back(request);
  silent_ = signalled ? 0 : silent_ + 1;
}

void SendQueueAccount::refused(std::uint64_t request) {
  CORAIL_CHECK(!posted_.empty() && posted_.back() == request, "the last one is refused first");
  posted_.pop_back();
  silent_ = std::min(silent_, static_cast<std::uint32_t>(posted_.size()));
}

std::optional<SendQueueAccount::Ended> SendQueueAccount::completed(const Completion& completion) {
  const auto own = std::find(posted_.begin(), posted_.end(), completion.request);
  if (own == posted_.end()) return std::nullopt;
  Ended ended;
  ended.succeeded.assign(posted_.begin(), own);
  ended.own = *own;
  posted_.erase(posted_.begin(), own + 1);
  silent_ = std::min(silent_, static_cast<std::uint32_t>(posted_.size()));
  return ended;
}

std::vector<std::uint64_t> SendQueueAccount::abandon() {
  std::vector<std::uint64_t> left(posted_.begin(), posted_.end());
  posted_.clear();
  silent_ = 0;
  return left;
}

}  // namespace corail
