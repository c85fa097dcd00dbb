#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/exec/task.h"
#include "engine/rail/rail_endpoint.h"
#include "engine/rail/tcp/data_frame.h"
#include "engine/rail/tcp/data_socket.h"

namespace corail::test {

/// A holder that does exactly what the test says, for one channel.
class FakeHolder {
 public:
  explicit FakeHolder(asio::io_context& context);

  RailEndpoint endpoint() const;

  /// Waits for a channel and lets it in, or says something else.
  Task<void> accept() { return accept_with(ChannelPrefaceAnswer()); }
  Task<void> accept_with(ChannelPrefaceAnswer answer);
  /// Waits for a channel and sends back whatever comes.
  Task<void> echo();
  /// Throws when the requester has hung up, or sends something else.
  Task<Request> next_request();
  /// The same, but nothing when it has hung up.
  Task<std::optional<Request>> next_request_if_any();
  Task<void> send(std::span<const std::byte> bytes);
  Task<void> send_header(OpKey op, std::uint64_t offset, std::uint64_t length);
  Task<void> send_end(OpKey op);
  /// Goes on with the channel of another fake.
  void take_over(FakeHolder& other) { socket_ = std::move(other.socket_); }
  void hang_up() { socket_->close(); }

  const std::string& peer_name() const { return socket_->peer_name(); }

 private:
  asio::ip::tcp::acceptor acceptor_;
  std::unique_ptr<DataSocket> socket_;
};

/// A requester that does exactly what the test says. Null when the door is not reached.
Task<std::unique_ptr<DataSocket>> dial(asio::io_context& context, RailEndpoint endpoint);
/// The same, let in; null when the door did not.
Task<std::unique_ptr<DataSocket>> dial_in(asio::io_context& context, RailEndpoint endpoint);

}  // namespace corail::test
