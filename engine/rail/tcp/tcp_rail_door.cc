#include "engine/rail/tcp/tcp_rail_door.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/ip/address.hpp>
#include <deque>
#include <set>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "engine/exec/event.h"
#include "engine/exec/shielded.h"
#include "engine/exec/sleep.h"
#include "engine/exec/tcp_socket.h"
#include "engine/rail/tcp/data_frame.h"
#include "engine/rail/tcp/serve_channel.h"

namespace corail {
namespace {

using asio::ip::tcp;

/// How long not to accept when the process has no descriptor left.
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);

/// In the same time whatever the difference, so that a token cannot be guessed byte by byte.
bool same_token(const ChannelToken& a, const ChannelToken& b) noexcept {
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

/// A connection before its token. Shared with the timer's callback, which may be queued already
/// when the frame goes.
struct TcpRailDoor::HalfOpen {
  std::unique_ptr<DataSocket> socket;  // gone once it belongs to a session
};

/// Kept by the coroutines that serve it, too.
struct TcpRailDoor::Session {
  Session(asio::any_io_executor executor, SessionId own_id, ChannelToken own_token,
          LeaseGate& own_gate)
      : id(own_id), token(own_token), gate(own_gate), scope(executor), orders_ended(executor) {}

  const SessionId id;
  const ChannelToken token;
  LeaseGate& gate;
  std::set<ServeChannel*> channels;
  std::deque<std::uint64_t> lost;  // names of channels that have ended, the latest ones
  TaskScope scope;
  std::size_t orders = 0;                // calls of push()
  Event orders_ended;                    // for the first caller of drop_session()
  std::vector<Event*> waiting_for_drop;  // later callers of drop_session()
  bool dropping = false;
};

TcpRailDoor::TcpRailDoor(asio::any_io_executor executor, Clock& clock, TcpOptions options)
    : executor_(executor),
      clock_(clock),
      options_(std::move(options)),
      acceptor_(executor),
      pause_(clock.make_timer(executor)),
      scope_(executor) {}

TcpRailDoor::~TcpRailDoor() {
  CORAIL_CHECK(!acceptor_.is_open() && sessions_.empty(),
               "a door was destroyed without an awaited close()");
}

Result<void> TcpRailDoor::open() {
  auto checked = check_options(options_);
  if (!checked.ok()) return checked;
  std::error_code error;
  const tcp::endpoint local(asio::ip::make_address(options_.local_address, error), options_.port);
  tcp::endpoint bound;
  acceptor_.open(local.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) {
    // Accepted sockets inherit the sizes.
    apply_buffer_sizes(acceptor_.native_handle(), options_);
    acceptor_.bind(local, error);
  }
  if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
  if (!error) bound = acceptor_.local_endpoint(error);
  if (error) {
    std::error_code ignored;
    acceptor_.close(ignored);
    return Error(Errc::kConnectFailed, Stage::kSetup,
                 fmt::format("the data port cannot listen on {}: {}; check that the address is one "
                             "of this machine's and that the port is free",
                             endpoint_name(local), error.message()));
  }
  endpoint_.transport = "tcp";
  endpoint_.address = bound.address().to_string();
  endpoint_.port = bound.port();
  scope_.spawn(accept_channels());
  return ok_result();
}

RailEndpoint TcpRailDoor::admit_session(SessionId session, ChannelToken token, LeaseGate& gate) {
  const auto added =
      sessions_.emplace(session, std::make_shared<Session>(executor_, session, token, gate));
  CORAIL_CHECK(added.second, "a session was admitted twice");
  RailEndpoint endpoint = endpoint_;
  endpoint.token = token;
  return endpoint;
}

Task<void> TcpRailDoor::drop_session(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) co_return;
  const std::shared_ptr<Session> dropped = found->second;
  if (dropped->dropping) {
    Event gone(executor_);
    dropped->waiting_for_drop.push_back(&gone);
    co_await shielded(gone.wait());
    co_return;
  }
  dropped->dropping = true;
  for (ServeChannel* const channel : dropped->channels) channel->close();
  co_await shielded(dropped->scope.join());
  while (dropped->orders > 0) co_await shielded(dropped->orders_ended.wait());
  sessions_.erase(session);
  for (Event* const waiting : dropped->waiting_for_drop) waiting->notify();
}

Task<Result<void>> TcpRailDoor::push(SessionId session, PushOrder order, PinnedBytes bytes,
                                     std::function<bool()> cancelled) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second->dropping) {
    co_return Error(Errc::kRefused, Stage::kServe, "an order of a session that has ended");
  }
  const std::shared_ptr<Session> owner = found->second;
  auto taken = take_order(*owner, order, std::move(bytes), std::move(cancelled));
  if (!taken.ok()) co_return std::move(taken).error();
  const std::shared_ptr<ServedOrder> served = std::move(taken).value();
  ++owner->orders;
  co_await shielded(served->ended.wait());
  --owner->orders;
  owner->orders_ended.notify();
  co_return std::move(*served->result);
}

Result<std::shared_ptr<ServedOrder>> TcpRailDoor::take_order(Session& session,
                                                             const PushOrder& order,
                                                             PinnedBytes bytes,
                                                             std::function<bool()> cancelled) {
  if (order.length == 0 || order.length > kMaxReadBytes || order.length != bytes.bytes.size()) {
    return Error(Errc::kRefused, Stage::kServe,
                 fmt::format("an order of {} bytes served with {}, allowed are 1 to {}",
                             order.length, bytes.bytes.size(), kMaxReadBytes));
  }
  for (ServeChannel* const channel : session.channels) {
    if (channel->name() == order.channel) {
      return channel->take_order(order, std::move(bytes), std::move(cancelled));
    }
  }
  // A path that fails is nobody's breach: the requester may not have noticed yet.
  const auto& lost = session.lost;
  if (std::find(lost.begin(), lost.end(), order.channel) != lost.end()) {
    return Error(Errc::kConnectionLost, Stage::kServe, "the data channel of the order was lost");
  }
  return Error(Errc::kRefused, Stage::kServe,
               "an order for a data channel that this session does not have");
}

Task<void> TcpRailDoor::close() {
  closed_ = true;
  std::error_code ignored;
  acceptor_.close(ignored);
  pause_->cancel();
  for (const auto& connection : half_open_) {
    if (connection->socket != nullptr) connection->socket->close();
  }
  while (!sessions_.empty()) {
    const SessionId next = sessions_.begin()->first;
    co_await shielded(drop_session(next));
  }
  co_await shielded(scope_.join());
}

Task<void> TcpRailDoor::accept_channels() {
  while (!closed_) {
    std::error_code error;
    tcp::socket socket = co_await acceptor_.async_accept(into(error));
    if (closed_) break;
    if (error == std::errc::too_many_files_open ||
        error == std::errc::too_many_files_open_in_system || error == std::errc::no_buffer_space ||
        error == std::errc::not_enough_memory) {
      log(LogLevel::kWarning,
          "the data port {}:{} cannot accept: {}; raise the limit of open files", endpoint_.address,
          endpoint_.port, error.message());
      co_await sleep_until(*pause_, clock_.now() + kAcceptPause);
      continue;
    }
    // Any other error is about one connection, which was lost before it was accepted.
    if (error) continue;
    make_room();
    const auto connection = std::make_shared<HalfOpen>();
    connection->socket = std::make_unique<DataSocket>(std::move(socket));
    half_open_.push_back(connection);
    scope_.spawn(introduce(connection));
  }
}

void TcpRailDoor::make_room() {
  while (half_open_.size() >= kMaxHalfOpen) {
    // introduce() finds it closed, and ends.
    if (half_open_.front()->socket != nullptr) half_open_.front()->socket->close();
    half_open_.pop_front();
  }
}

Task<void> TcpRailDoor::introduce(std::shared_ptr<HalfOpen> connection) {
  const auto timer = clock_.make_timer(executor_);
  timer->wait_until(clock_.now() + options_.preface_time, [connection](bool expired) {
    if (expired && connection->socket != nullptr) connection->socket->close();
  });
  const auto preface = co_await read_preface(*connection->socket);
  if (preface.ok()) {
    const auto session = find(preface->token);
    if (session == nullptr) {
      co_await turn_away(*connection->socket, ChannelAnswer::kUnknownToken);
    } else if (session->scope.running() >= kMaxSessionChannels) {
      co_await turn_away(*connection->socket, ChannelAnswer::kTooManyChannels);
    } else {
      session->scope.spawn(serve(session, preface->name, std::move(connection->socket)));
    }
  }
  half_open_.remove(connection);
  connection->socket.reset();
}

Task<Result<ChannelPreface>> TcpRailDoor::read_preface(DataSocket& socket) {
  ChannelPrefaceBytes bytes{};
  std::size_t have = 0;
  while (have < bytes.size()) {
    iovec target{bytes.data() + have, bytes.size() - have};
    const Transferred moved = socket.receive(std::span(&target, 1));
    if (moved.state == Transferred::State::kLater) {
      co_await socket.readable();
      continue;
    }
    if (moved.state != Transferred::State::kSome) {
      co_return Error(Errc::kConnectionLost, Stage::kServe, "closed before it showed a token");
    }
    have += moved.bytes;
    if (!may_be_channel_preface(std::span(bytes).first(have))) {
      co_return Error(Errc::kProtocol, Stage::kServe, "this is no data channel of corail");
    }
    if (have < kLeastPrefaceBytes) continue;
    // Of an incomplete one only the version is looked at: another one's may end here.
    const auto preface = decode_channel_preface(bytes);
    if (!preface.ok()) co_return preface.error();
    if (preface->version != kChannelVersion) {
      co_await turn_away(socket, ChannelAnswer::kOtherVersion);
      co_return Error(Errc::kIncompatible, Stage::kServe, "another version of the data channel");
    }
  }
  co_return decode_channel_preface(bytes);
}

Task<void> TcpRailDoor::turn_away(DataSocket& socket, ChannelAnswer answer) {
  ChannelPrefaceAnswer told;
  told.answer = answer;
  const ChannelPrefaceAnswerBytes bytes = encode(told);
  co_await socket.send_all(std::span(bytes));
  socket.close();
}

Task<void> TcpRailDoor::serve(std::shared_ptr<Session> session, std::uint64_t name,
                              std::unique_ptr<DataSocket> socket) {
  // drop_session() may have come between the token and this.
  if (session->dropping) co_return;
  ServeChannel channel(std::move(socket), executor_, clock_, session->id, name, session->gate,
                       options_, load_);
  session->channels.insert(&channel);
  co_await channel.run();
  session->channels.erase(&channel);
  session->lost.push_back(name);
  if (session->lost.size() > kMaxSessionChannels) session->lost.pop_front();
}

std::shared_ptr<TcpRailDoor::Session> TcpRailDoor::find(const ChannelToken& token) const noexcept {
  std::shared_ptr<Session> found;
  for (const auto& [id, session] : sessions_) {
    if (same_token(session->token, token) && !session->dropping) found = session;
  }
  return found;
}

}  // namespace corail
