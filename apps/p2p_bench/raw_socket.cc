#include "apps/p2p_bench/raw_socket.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "apps/p2p_bench/option_values.h"

namespace corail::bench {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const std::string& host, const std::string& port, int flags) {
  const bool bracketed = host.size() > 2 && host.front() == '[';
  const std::string name = bracketed ? host.substr(1, host.size() - 2) : host;
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  if (::getaddrinfo(name.c_str(), port.c_str(), &hints, &found) != 0) found = nullptr;
  return {found, &::freeaddrinfo};
}

Error failure(const std::string& what, const std::string& address, int error) {
  return {Errc::kConnectFailed, fmt::format("{} {}: {}", what, address, std::strerror(error))};
}

void set_flag(int fd, int level, int name) {
  const int on = 1;
  ::setsockopt(fd, level, name, &on, sizeof(on));
}

/// 0, or the errno of a connect that was refused or took too long.
int connect_within(int fd, const addrinfo& to, Duration patience) {
  const int flags = ::fcntl(fd, F_GETFL);
  ::fcntl(fd, F_SETFL, flags | O_NONBLOCK);
  if (::connect(fd, to.ai_addr, to.ai_addrlen) != 0) {
    if (errno != EINPROGRESS) return errno;
    pollfd waiting = {fd, POLLOUT, 0};
    const auto wait = std::chrono::duration_cast<std::chrono::milliseconds>(patience);
    if (::poll(&waiting, 1, static_cast<int>(wait.count())) <= 0) return ETIMEDOUT;
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return error;
  }
  ::fcntl(fd, F_SETFL, flags);
  return 0;
}

}  // namespace

HostPort split_address(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) return {address, 0};
  const auto port = parse_whole(address.substr(colon + 1));
  return {address.substr(0, colon), static_cast<std::uint32_t>(port.value_or(0))};
}

Result<Descriptor> listen_raw(const std::string& address) {
  const HostPort where = split_address(address);
  const Addresses found = resolve(where.host, std::to_string(where.port), AI_PASSIVE);
  if (!found) return failure("cannot resolve", address, EINVAL);
  Descriptor socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return failure("cannot listen on", address, errno);
  set_flag(socket.get(), SOL_SOCKET, SO_REUSEADDR);
  const bool bound = ::bind(socket.get(), found->ai_addr, found->ai_addrlen) == 0;
  if (!bound || ::listen(socket.get(), SOMAXCONN) != 0) {
    return failure("cannot listen on", address, errno);
  }
  return socket;
}

std::string local_address_of(const Descriptor& socket) {
  sockaddr_storage storage = {};
  socklen_t size = sizeof(storage);
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  char host[NI_MAXHOST] = {};
  char port[NI_MAXSERV] = {};
  if (::getsockname(socket.get(), address, &size) != 0) return "";
  ::getnameinfo(address, size, host, sizeof(host), port, sizeof(port),
                NI_NUMERICHOST | NI_NUMERICSERV);
  const bool v6 = storage.ss_family == AF_INET6;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

Result<Descriptor> connect_raw(const std::string& local_host, const std::string& address,
                               Duration patience) {
  const HostPort where = split_address(address);
  const Addresses to = resolve(where.host, std::to_string(where.port), 0);
  if (!to) return failure("cannot resolve", address, EINVAL);
  Descriptor socket(::socket(to->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return failure("cannot connect to", address, errno);
  if (!local_host.empty()) {
    const Addresses from = resolve(local_host, "0", AI_NUMERICHOST);
    if (!from) return failure("cannot connect from", local_host, EINVAL);
    if (::bind(socket.get(), from->ai_addr, from->ai_addrlen) != 0) {
      return failure("cannot connect from", local_host, errno);
    }
  }
  const int error = connect_within(socket.get(), *to, patience);
  if (error != 0) return failure("cannot connect to", address, error);
  send_at_once(socket);
  return socket;
}

void send_at_once(const Descriptor& socket) { set_flag(socket.get(), IPPROTO_TCP, TCP_NODELAY); }

void set_stall_limit(const Descriptor& socket, Duration limit) {
  timeval time = {};
  time.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(limit).count();
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

bool send_all(const Descriptor& socket, std::span<const std::byte> bytes,
              std::uint64_t call_bytes) {
  while (!bytes.empty()) {
    const std::size_t want = std::min<std::size_t>(bytes.size(), call_bytes);
    const ssize_t sent = ::send(socket.get(), bytes.data(), want, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return true;
}

bool receive_all(const Descriptor& socket, std::span<std::byte> bytes, std::uint64_t call_bytes) {
  while (!bytes.empty()) {
    const std::size_t want = std::min<std::size_t>(bytes.size(), call_bytes);
    const ssize_t got = ::recv(socket.get(), bytes.data(), want, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace corail::bench
