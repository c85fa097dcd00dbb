#include "engine/rail/tcp/data_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <asio/post.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

#include "engine/exec/tcp_socket.h"
#include "engine/rail/tcp/tcp_limits.h"

namespace corail {
namespace {

Transferred outcome(ssize_t moved, bool zero_is_end) noexcept {
  Transferred result;
  if (moved > 0 || (moved == 0 && !zero_is_end)) {
    result.state = Transferred::State::kSome;
    result.bytes = static_cast<std::size_t>(moved);
  } else if (moved == 0) {
    result.state = Transferred::State::kEnded;
  } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    result.state = Transferred::State::kLater;
  } else {
    result.state = Transferred::State::kFailed;
    result.error = errno;
  }
  return result;
}

/// A kernel that refuses one of them leaves the slower way of noticing, which works too.
void watch_the_path(int socket) noexcept {
  const auto apply = [socket](int level, int option, std::int64_t value) {
    const int number = static_cast<int>(value);
    ::setsockopt(socket, level, option, &number, sizeof(number));
  };
  apply(SOL_SOCKET, SO_KEEPALIVE, 1);
  apply(IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdle.count());
  apply(IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveInterval.count());
  apply(IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveProbes);
  apply(IPPROTO_TCP, TCP_USER_TIMEOUT, std::chrono::milliseconds(kUnacknowledgedTime).count());
}

}  // namespace

DataSocket::DataSocket(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {
  // Failing options surface as errors of the first call.
  std::error_code error;
  socket_.native_non_blocking(true, error);
  socket_.set_option(asio::ip::tcp::no_delay(true), error);
  watch_the_path(socket_.native_handle());
  learn_names();
}

void DataSocket::learn_names() {
  // The names of a connection that is not there, or gone already, stay empty.
  std::error_code error;
  const auto local = socket_.local_endpoint(error);
  if (!error) local_name_ = endpoint_name(local);
  const auto peer = socket_.remote_endpoint(error);
  if (!error) peer_name_ = endpoint_name(peer);
}

Task<std::error_code> DataSocket::connect(asio::ip::tcp::endpoint remote) {
  std::error_code error;
  co_await socket_.async_connect(remote, into(error));
  if (!error && !is_open()) error = std::make_error_code(std::errc::operation_canceled);
  if (!error) learn_names();
  co_return error;
}

Transferred DataSocket::receive(std::span<iovec> targets) noexcept {
  if (!is_open()) return {};
  msghdr message{};
  message.msg_iov = targets.data();
  message.msg_iovlen = targets.size();
  return outcome(::recvmsg(socket_.native_handle(), &message, MSG_DONTWAIT), true);
}

Transferred DataSocket::send(std::span<const iovec> sources) noexcept {
  if (!is_open()) return {};
  msghdr message{};
  // sendmsg() only reads the vector; its type is older than const.
  message.msg_iov = const_cast<iovec*>(sources.data());
  message.msg_iovlen = sources.size();
  return outcome(::sendmsg(socket_.native_handle(), &message, MSG_DONTWAIT | MSG_NOSIGNAL), false);
}

Task<Transferred::State> DataSocket::receive_all(std::span<std::byte> target) {
  while (!target.empty()) {
    iovec part{target.data(), target.size()};
    const Transferred moved = receive(std::span(&part, 1));
    if (moved.state == Transferred::State::kSome) {
      target = target.subspan(moved.bytes);
      continue;
    }
    if (moved.state != Transferred::State::kLater) co_return moved.state;
    co_await readable();
  }
  co_return Transferred::State::kSome;
}

Task<Transferred::State> DataSocket::send_all(std::span<const std::byte> source) {
  while (!source.empty()) {
    // sendmsg() does not write; iovec is older than const.
    const iovec part{const_cast<std::byte*>(source.data()), source.size()};
    const Transferred moved = send(std::span(&part, 1));
    if (moved.state == Transferred::State::kSome) {
      source = source.subspan(moved.bytes);
      continue;
    }
    if (moved.state != Transferred::State::kLater) co_return moved.state;
    co_await writable();
  }
  co_return Transferred::State::kSome;
}

Task<bool> DataSocket::readable() {
  if (!is_open()) co_return false;
  std::error_code error;
  co_await socket_.async_wait(asio::ip::tcp::socket::wait_read, into(error));
  co_return !error && is_open();
}

Task<bool> DataSocket::writable() {
  if (!is_open()) co_return false;
  std::error_code error;
  co_await socket_.async_wait(asio::ip::tcp::socket::wait_write, into(error));
  co_return !error && is_open();
}

Task<void> DataSocket::yield() { co_await asio::post(socket_.get_executor(), asio::use_awaitable); }

void DataSocket::close() noexcept {
  std::error_code ignored;
  socket_.close(ignored);
}

}  // namespace corail
