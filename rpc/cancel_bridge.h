#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/post.hpp>
#include <memory>

#include "engine/read/cancel_token.h"
#include "rpc/call.h"

namespace corail {

/// While this lives, pulling the token gives the call up. The token is pulled on any thread, the
/// call is given up on home, where this is made and destroyed; a cancel that is late on its way
/// there finds nobody. The call's CallCancel outlives it.
class CancelBridge {
 public:
  CancelBridge(asio::any_io_executor home, const CancelToken& token, CallCancel& call)
      : call_(std::make_shared<CallCancel*>(&call)),
        subscription_(token.subscribe([home = std::move(home), call = call_] {
          asio::post(home, [call] {
            if (*call != nullptr) (*call)->fire();
          });
        })) {}
  ~CancelBridge() { *call_ = nullptr; }
  CancelBridge(const CancelBridge&) = delete;
  CancelBridge& operator=(const CancelBridge&) = delete;

 private:
  const std::shared_ptr<CallCancel*> call_;
  const CancelToken::Subscription subscription_;
};

}  // namespace corail
