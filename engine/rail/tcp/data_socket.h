#pragma once

#include <sys/uio.h>

#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>

#include "engine/exec/task.h"

namespace corail {

/// What a nonblocking call achieved.
struct Transferred {
  enum class State {
    kSome,   // `bytes` were moved, more than 0
    kLater,  // nothing now: wait, then try again
    kEnded,  // the peer has closed, or we have
    kFailed  // see `error`
  };
  State state = State::kEnded;
  std::size_t bytes = 0;
  int error = 0;  // errno of kFailed
};

/// A connected socket of a data channel: calls that never block, and waits for readiness.
///
/// Never a receive that completes later by itself: between two calls nobody writes into a
/// destination, which is what makes a fence immediate. Owned by its channel; on the executor's
/// thread. close() ends the waits of others.
class DataSocket {
 public:
  /// Takes an open socket, connected or not; sets it nonblocking, without delay, and so that a dead
  /// path is noticed (see kKeepAliveIdle).
  explicit DataSocket(asio::ip::tcp::socket socket);

  /// Ends with an error when closed meanwhile.
  Task<std::error_code> connect(asio::ip::tcp::endpoint remote);

  Transferred receive(std::span<iovec> targets) noexcept;
  Transferred send(std::span<const iovec> sources) noexcept;

  /// The same until all bytes have moved, or the state that ended it. The bytes outlive the wait.
  Task<Transferred::State> receive_all(std::span<std::byte> target);
  Task<Transferred::State> send_all(std::span<const std::byte> source);

  /// True once a call may achieve something, false when closed meanwhile. One waiter each.
  Task<bool> readable();
  Task<bool> writable();

  /// Lets every handler that is ready run before it returns.
  Task<void> yield();

  void close() noexcept;
  bool is_open() const noexcept { return socket_.is_open(); }

  const std::string& local_name() const noexcept { return local_name_; }
  const std::string& peer_name() const noexcept { return peer_name_; }

 private:
  void learn_names();

  asio::ip::tcp::socket socket_;
  std::string local_name_;
  std::string peer_name_;
};

}  // namespace corail
