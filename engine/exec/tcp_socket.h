#pragma once

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <memory>
#include <string>
#include <system_error>

#include "engine/exec/byte_stream.h"
#include "engine/exec/host_port.h"

namespace corail {

/// Completion token of socket operations: errors into `error`, no reaction to Asio's cancellation.
inline auto into(std::error_code& error) {
  return asio::bind_cancellation_slot(asio::cancellation_slot(),
                                      asio::redirect_error(asio::use_awaitable, error));
}

inline std::string endpoint_name(const asio::ip::tcp::endpoint& endpoint) {
  return format_host_port(endpoint.address().to_string(), endpoint.port());
}

/// Takes a connected socket. Fails when it is no longer connected.
Result<std::unique_ptr<ByteStream>> make_tcp_stream(asio::ip::tcp::socket socket);

}  // namespace corail
