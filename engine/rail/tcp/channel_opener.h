#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/rail/rail_endpoint.h"
#include "engine/rail/tcp/data_socket.h"
#include "engine/rail/tcp/tcp_options.h"

namespace corail {

/// What a channel is called in the orders for it. Made of its own end's address, which no other
/// channel has that goes to the same door at the same time. The socket is connected.
std::uint64_t channel_name(const DataSocket& socket) noexcept;

/// Opens data channels to a holder, one after the other: connects from the local address and shows
/// the token.
///
/// Owned by the transport, which outlives every open(); on the executor's thread. abort() ends the
/// open() that is under way, and all later ones.
class ChannelOpener {
 public:
  /// The options must have been checked, and outlive this.
  ChannelOpener(asio::any_io_executor executor, Clock& clock, const TcpOptions& options);

  /// A channel that the holder has accepted. kConnectFailed, kConnectionLost, kDeadline: the path.
  /// kRefused: the token is unknown. kIncompatible, kProtocol: no door of this version. kBusy.
  Task<Result<std::unique_ptr<DataSocket>>> open(RailEndpoint remote, TimePoint deadline);

  void abort() noexcept;

 private:
  struct Attempt;

  Result<std::unique_ptr<DataSocket>> make_socket(bool v6) const;
  Task<Result<void>> shake_hands(DataSocket& socket, RailEndpoint remote);

  const asio::any_io_executor executor_;
  Clock& clock_;
  const TcpOptions& options_;
  std::shared_ptr<Attempt> attempt_;
  bool aborted_ = false;
};

}  // namespace corail
