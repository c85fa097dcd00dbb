#pragma once

#include <functional>
#include <memory>

namespace corail {

/// Asks a read to give up. The read still ends by itself, quiescent (contract 1): a cancel returns
/// nothing early and frees nothing. Copies share one state. Any thread.
class CancelToken {
 public:
  CancelToken();
  // No moves: a token that was moved from would have no state to cancel.
  CancelToken(const CancelToken& other) = default;
  CancelToken& operator=(const CancelToken& other) = default;

  /// Asks. Calls what was subscribed, on this thread, once.
  void cancel();
  bool cancelled() const;

  /// Ends a subscription when it goes; after that the callback neither runs nor will run.
  class Subscription {
   public:
    Subscription() = default;
    ~Subscription();
    Subscription(Subscription&& other) noexcept;
    Subscription& operator=(Subscription&&) = delete;

   private:
    friend class CancelToken;
    struct Entry;
    std::shared_ptr<Entry> entry_;
  };

  /// `on_cancel` runs once, on the cancelling thread, or at once when cancel() came before. It must
  /// not block, nor cancel this token or subscribe to it.
  [[nodiscard]] Subscription subscribe(std::function<void()> on_cancel) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace corail
