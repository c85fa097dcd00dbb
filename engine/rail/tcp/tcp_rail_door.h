#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/rail_door.h"
#include "engine/rail/tcp/data_socket.h"
#include "engine/rail/tcp/serve_channel.h"
#include "engine/rail/tcp/tcp_options.h"

namespace corail {

/// Connections that have not shown a token yet, at most (I8). One more closes the oldest of them:
/// whoever means it shows the token at once, so that silent strangers lock nobody out.
inline constexpr std::size_t kMaxHalfOpen = 64;
/// Channels of one session through one door, at most.
inline constexpr std::size_t kMaxSessionChannels = 64;

/// Listens on a port's local address and serves the channels of admitted sessions.
///
/// Ownership and thread as RailDoor says. Its coroutines run in scopes of its own: close() joins
/// all, drop_session() those of the session, and waits for its orders. A foreign protocol is closed
/// at its first wrong byte, a silent connection after preface_time.
class TcpRailDoor final : public RailDoor {
 public:
  TcpRailDoor(asio::any_io_executor executor, Clock& clock, TcpOptions options);
  ~TcpRailDoor() override;
  TcpRailDoor(const TcpRailDoor&) = delete;
  TcpRailDoor& operator=(const TcpRailDoor&) = delete;

  Result<void> open() override;
  RailEndpoint admit_session(SessionId session, ChannelToken token, LeaseGate& gate) override;
  Task<void> drop_session(SessionId session) override;
  Task<Result<void>> push(SessionId session, PushOrder order, PinnedBytes bytes,
                          std::function<bool()> cancelled) override;
  Task<void> close() override;

 private:
  struct HalfOpen;
  struct Session;

  Task<void> accept_channels();
  void make_room();
  Task<void> introduce(std::shared_ptr<HalfOpen> connection);
  Task<Result<ChannelPreface>> read_preface(DataSocket& socket);
  Task<void> turn_away(DataSocket& socket, ChannelAnswer answer);
  Task<void> serve(std::shared_ptr<Session> session, std::uint64_t name,
                   std::unique_ptr<DataSocket> socket);
  Result<std::shared_ptr<ServedOrder>> take_order(Session& session, const PushOrder& order,
                                                  PinnedBytes bytes,
                                                  std::function<bool()> cancelled);
  std::shared_ptr<Session> find(const ChannelToken& token) const noexcept;

  const asio::any_io_executor executor_;
  Clock& clock_;
  const TcpOptions options_;
  asio::ip::tcp::acceptor acceptor_;
  const std::unique_ptr<Timer> pause_;
  RailEndpoint endpoint_;
  std::map<SessionId, std::shared_ptr<Session>> sessions_;
  std::list<std::shared_ptr<HalfOpen>> half_open_;  // the oldest first
  ServeLoad load_;
  TaskScope scope_;
  bool closed_ = false;
};

}  // namespace corail
