#pragma once

#include <asio/cancellation_signal.hpp>
#include <asio/cancellation_type.hpp>

#include "engine/read/cancel_token.h"

namespace corail {

/// Makes Asio's cancellation of the calling coroutine pull a token, so that a fetch which is
/// cancelled that way still ends by itself, quiescent (contract 1).
///
/// Lives in the caller's frame, on the caller's executor, where its signal is emitted too; while
/// nothing else uses the slot. The token is a new one that also follows `other`, because `other`
/// may be shared with calls that nobody cancelled.
class SlotCancel {
 public:
  SlotCancel(asio::cancellation_slot slot, const CancelToken& other)
      : slot_(slot),
        subscription_(other.subscribe([token = token_]() mutable { token.cancel(); })) {
    if (!slot_.is_connected()) return;
    slot_.assign([token = token_](asio::cancellation_type) mutable { token.cancel(); });
  }
  ~SlotCancel() {
    if (slot_.is_connected()) slot_.clear();
  }
  SlotCancel(const SlotCancel&) = delete;
  SlotCancel& operator=(const SlotCancel&) = delete;

  const CancelToken& token() const noexcept { return token_; }

 private:
  asio::cancellation_slot slot_;
  CancelToken token_;
  const CancelToken::Subscription subscription_;
};

}  // namespace corail
