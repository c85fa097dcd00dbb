#include "apps/p2p_bench/limit_server.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/units.h"

namespace corail::bench {
namespace {

/// The most connections at a time (I8): more rails and channels than a run may have.
constexpr std::size_t kMaxConnections = 4096;
/// A connection must have greeted by then.
constexpr Duration kGreetingLimit = std::chrono::seconds(5);

/// How long no connection is accepted once the process has no descriptors or memory left.
constexpr int kExhaustedPauseMs = 100;

/// Whether accept failed for want of something that may come back. The connection then stays in
/// the queue, and the listener readable.
bool is_exhaustion(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/// Sends [offset, offset + length) of the set's bytes.
bool send_range(const Descriptor& socket, const SourceMemory& memory, const LimitCommand& command) {
  std::uint64_t skip = command.offset;
  std::uint64_t left = command.length;
  for (const auto& span : memory) {
    if (left == 0) break;
    if (skip >= span.size()) {
      skip -= span.size();
      continue;
    }
    const auto piece = span.subspan(skip, std::min<std::uint64_t>(left, span.size() - skip));
    skip = 0;
    left -= piece.size();
    if (!send_all(socket, piece, command.call_bytes)) return false;
  }
  return left == 0;
}

}  // namespace

LimitServer::LimitServer(const Shape& shape, const std::vector<SourceMemory>& sets)
    : shape_(shape), sets_(sets), stop_(::eventfd(0, EFD_CLOEXEC)) {}

Result<std::unique_ptr<LimitServer>> LimitServer::open(const std::string& control_host,
                                                       const std::vector<std::string>& rail_hosts,
                                                       std::uint32_t port, const Shape& shape,
                                                       const std::vector<SourceMemory>& sets) {
  std::unique_ptr<LimitServer> server(new LimitServer(shape, sets));
  HolderHello hello;
  hello.shape = shape;
  std::vector<std::pair<std::string, std::string>> bound;  // host, address
  const auto listen = [&](const std::string& host) -> Result<std::string> {
    const auto same = std::ranges::find(bound, host, &std::pair<std::string, std::string>::first);
    if (same != bound.end()) return same->second;
    auto listener = listen_raw(fmt::format("{}:{}", host, port));
    if (!listener.ok()) return std::move(listener).error();
    bound.emplace_back(host, local_address_of(*listener));
    server->listeners_.push_back(std::move(*listener));
    return bound.back().second;
  };
  auto control = listen(control_host);
  if (!control.ok()) return std::move(control).error();
  server->address_ = *control;
  const bool everywhere = control_host == "0.0.0.0" || control_host == "[::]";
  for (const std::string& host : rail_hosts) {
    if (everywhere) {
      // The one socket listens on the addresses of the rails, too.
      hello.endpoints.push_back(fmt::format("{}:{}", host, split_address(*control).port));
      continue;
    }
    auto rail = listen(host);
    if (!rail.ok()) return std::move(rail).error();
    hello.endpoints.push_back(*rail);
  }
  server->hello_ = encode_hello(hello);
  server->accepting_ = std::thread([raw = server.get()] { raw->accept_all(); });
  return server;
}

LimitServer::~LimitServer() {
  const std::uint64_t one = 1;
  CORAIL_CHECK(::write(stop_.get(), &one, sizeof(one)) == sizeof(one), "an eventfd takes a one");
  if (accepting_.joinable()) accepting_.join();
  for (Connection& connection : connections_) ::shutdown(connection.socket.get(), SHUT_RDWR);
  for (Connection& connection : connections_) connection.thread.join();
}

void LimitServer::accept_all() {
  std::vector<pollfd> waiting = {{stop_.get(), POLLIN, 0}};
  for (const Descriptor& listener : listeners_) waiting.push_back({listener.get(), POLLIN, 0});
  while (true) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting.front().revents != 0) return;
    for (std::size_t i = 0; i < listeners_.size(); ++i) {
      if (waiting[i + 1].revents != 0) accept_one(listeners_[i]);
    }
  }
}

void LimitServer::accept_one(const Descriptor& listener) {
  join_ended();
  Descriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) {
    if (is_exhaustion(errno)) pause();
    return;
  }
  if (connections_.size() >= kMaxConnections) return;
  // As on the other side: the end of an answer must not wait for an acknowledgement.
  send_at_once(socket);
  Connection& connection = connections_.emplace_back();
  connection.socket = std::move(socket);
  try {
    connection.thread = std::thread([this, &connection] {
      serve(connection.socket);
      ::shutdown(connection.socket.get(), SHUT_RDWR);
      connection.ended = true;
    });
  } catch (const std::system_error&) {
    // Without a thread there is nobody to serve it; the requester sees it closed.
    connections_.pop_back();
  }
}

void LimitServer::pause() const {
  pollfd stop = {stop_.get(), POLLIN, 0};
  ::poll(&stop, 1, kExhaustedPauseMs);
}

void LimitServer::join_ended() {
  for (auto it = connections_.begin(); it != connections_.end();) {
    if (!it->ended) {
      ++it;
      continue;
    }
    it->thread.join();
    it = connections_.erase(it);
  }
}

void LimitServer::serve(const Descriptor& socket) {
  set_stall_limit(socket, kGreetingLimit);
  if (!answer_greeting(socket, hello_)) return;
  std::array<std::byte, kCommandBytes> bytes = {};
  while (true) {
    // Between two commands a requester may take its time; within one it may not.
    set_stall_limit(socket, Duration::zero());
    if (!receive_all(socket, bytes, bytes.size())) return;
    set_stall_limit(socket, kStallLimit);
    if (!serve_command(socket, decode_command(bytes))) return;
  }
}

bool LimitServer::serve_command(const Descriptor& socket, const LimitCommand& command) {
  const auto end = checked_add(command.offset, command.length);
  const bool possible = command.set < sets_.size() && end && *end <= shape_.payload_bytes() &&
                        command.call_bytes != 0 && command.call_bytes <= kMaxCallBytes;
  return possible && send_range(socket, sets_[command.set], command);
}

}  // namespace corail::bench
