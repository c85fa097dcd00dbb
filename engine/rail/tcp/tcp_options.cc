#include "engine/rail/tcp/tcp_options.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <asio/ip/address.hpp>
#include <string_view>

namespace corail {
namespace {

Error out_of_range(std::string_view option, std::uint64_t value, std::uint64_t least,
                   std::uint64_t most) {
  return Error(Errc::kInvalidArgument, Stage::kSetup,
               fmt::format("{} is {}, allowed are {} to {}", option, value, least, most));
}

}  // namespace

Result<void> check_options(const TcpOptions& options) {
  std::error_code error;
  const auto address = asio::ip::make_address(options.local_address, error);
  if (error || address.is_unspecified()) {
    return Error(Errc::kInvalidArgument, Stage::kSetup,
                 fmt::format("'{}' is not the numeric address of one local interface",
                             options.local_address));
  }
  if (options.channels < 1 || options.channels > kMaxChannels) {
    return out_of_range("channels", options.channels, 1, kMaxChannels);
  }
  if (options.max_slices < 1 || options.max_slices > kMaxQueuedReads) {
    return out_of_range("max_slices", options.max_slices, 1, kMaxQueuedReads);
  }
  if (options.receive_bytes < kMinFrameBytes || options.receive_bytes > kMaxReadBytes) {
    return out_of_range("receive_bytes", options.receive_bytes, kMinFrameBytes, kMaxReadBytes);
  }
  if (options.frame_bytes < kMinFrameBytes || options.frame_bytes > kMaxPayloadBytes) {
    return out_of_range("frame_bytes", options.frame_bytes, kMinFrameBytes, kMaxPayloadBytes);
  }
  if (options.send_buffer > kMaxSocketBufferBytes) {
    return out_of_range("send_buffer", options.send_buffer, 0, kMaxSocketBufferBytes);
  }
  if (options.receive_buffer > kMaxSocketBufferBytes) {
    return out_of_range("receive_buffer", options.receive_buffer, 0, kMaxSocketBufferBytes);
  }
  return ok_result();
}

void apply_buffer_sizes(asio::ip::tcp::socket::native_handle_type socket,
                        const TcpOptions& options) noexcept {
  // The kernel caps both at its limits by itself; a refusal leaves its own choice, which works too.
  const auto apply = [socket](int option, std::uint64_t bytes) {
    const int size = static_cast<int>(bytes);
    if (size > 0) ::setsockopt(socket, SOL_SOCKET, option, &size, sizeof(size));
  };
  apply(SO_SNDBUF, options.send_buffer);
  apply(SO_RCVBUF, options.receive_buffer);
}

void bind_local_address(asio::ip::tcp::socket& socket, const asio::ip::address& address,
                        std::error_code& error) {
  const int on = 1;
  ::setsockopt(socket.native_handle(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
  socket.bind(asio::ip::tcp::endpoint(address, 0), error);
}

}  // namespace corail
