#pragma once

// For the sources of ConnectedPeer only.

#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/read/cancel_token.h"
#include "rpc/connected_peer.h"

namespace corail {

/// A fetch that can be stopped: in the peer's set for as long as its frame lives, however that
/// ends.
class ConnectedPeer::RunningFetch {
 public:
  /// `caller` is the caller's token; its cancel reaches the fetch as well.
  RunningFetch(ConnectedPeer& peer, CancelToken caller)
      : peer_(peer),
        caller_(std::move(caller)),
        subscription_(caller_.subscribe([token = token_]() mutable { token.cancel(); })) {
    peer_.running_.insert(this);
  }
  ~RunningFetch() {
    peer_.running_.erase(this);
    peer_.idle_.notify();
  }
  RunningFetch(const RunningFetch&) = delete;
  RunningFetch& operator=(const RunningFetch&) = delete;

  const CancelToken& token() const noexcept { return token_; }

  /// Ends it as failed, for a reason that is not the caller's wish. The first reason counts.
  void stop(const Error& why) {
    if (!why_ && !caller_.cancelled()) why_ = why;
    token_.cancel();
  }
  /// What to tell the caller: that it was stopped looks like a cancel from inside.
  Error outcome(Error error) const {
    return why_ && error.code() == Errc::kCancelled ? *why_ : std::move(error);
  }

 private:
  ConnectedPeer& peer_;
  CancelToken token_;
  const CancelToken caller_;
  const CancelToken::Subscription subscription_;
  std::optional<Error> why_;
};

}  // namespace corail
