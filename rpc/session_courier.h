#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/rail/push.h"
#include "rpc/session_client.h"

namespace corail {

/// Carries the push orders of rails over the session that their endpoint was told by: one for each
/// rail, made of the one that the endpoint has. The rails are closed before the session is, but for
/// one whose device hangs: what it still orders is answered with kClosed, because nobody was asked.
class SessionCourier final : public PushCourier {
 public:
  /// What `session` points to is null once the session is gone; home executor only. `rail`: where
  /// answers are called; none for the one that others are made of, which takes no orders.
  SessionCourier(asio::any_io_executor home, std::shared_ptr<SessionClient*> session,
                 std::uint32_t door, asio::any_io_executor rail)
      : home_(std::move(home)), session_(std::move(session)), door_(door), rail_(std::move(rail)) {}

  void order(PushOrder order, Answered answered) override;
  std::shared_ptr<PushCourier> for_rail(const asio::any_io_executor& rail) override;

 private:
  const asio::any_io_executor home_;
  const std::shared_ptr<SessionClient*> session_;
  const std::uint32_t door_;
  const asio::any_io_executor rail_;
};

}  // namespace corail
