#include "engine/read/cancel_token.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

namespace corail {

struct CancelToken::State {
  std::mutex mutex;
  bool cancelled = false;
  std::uint64_t next = 0;
  std::map<std::uint64_t, std::function<void()>> callbacks;
};

struct CancelToken::Subscription::Entry {
  std::shared_ptr<State> state;
  std::uint64_t key = 0;
};

CancelToken::CancelToken() : state_(std::make_shared<State>()) {}

void CancelToken::cancel() {
  // Called with the lock held, so that a subscription that ends waits for a callback that runs.
  const std::lock_guard lock(state_->mutex);
  if (std::exchange(state_->cancelled, true)) return;
  for (const auto& [key, callback] : state_->callbacks) callback();
  state_->callbacks.clear();
}

bool CancelToken::cancelled() const {
  const std::lock_guard lock(state_->mutex);
  return state_->cancelled;
}

CancelToken::Subscription CancelToken::subscribe(std::function<void()> on_cancel) const {
  const std::lock_guard lock(state_->mutex);
  Subscription subscription;
  if (state_->cancelled) {
    on_cancel();
    return subscription;
  }
  const std::uint64_t key = state_->next++;
  state_->callbacks.emplace(key, std::move(on_cancel));
  subscription.entry_ = std::make_shared<Subscription::Entry>();
  subscription.entry_->state = state_;
  subscription.entry_->key = key;
  return subscription;
}

CancelToken::Subscription::Subscription(Subscription&& other) noexcept = default;

CancelToken::Subscription::~Subscription() {
  if (!entry_) return;
  const std::lock_guard lock(entry_->state->mutex);
  entry_->state->callbacks.erase(entry_->key);
}

}  // namespace corail
