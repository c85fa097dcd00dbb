#include "engine/rail/tcp/channel_opener.h"

#include <fmt/core.h>

#include <asio/ip/address.hpp>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "engine/base/checksum.h"
#include "engine/exec/host_port.h"
#include "engine/rail/tcp/data_frame.h"

namespace corail {
namespace {

using asio::ip::tcp;
using Socket = std::unique_ptr<DataSocket>;

Result<void> judge(const ChannelPrefaceAnswer& answer) {
  const Error other_version(Errc::kIncompatible,
                            fmt::format("the holder speaks version {} of the data channel, this "
                                        "side {}; run one version on both hosts",
                                        answer.version, kChannelVersion));
  // Also where it says that it accepts: what else it says, it says in a language of its own.
  if (answer.version != kChannelVersion) return other_version;
  switch (answer.answer) {
    case ChannelAnswer::kAccepted:
      return ok_result();
    case ChannelAnswer::kUnknownToken:
      return Error(Errc::kRefused,
                   "the holder does not know the token of the data channel; the session that the "
                   "token belongs to has ended, or another process listens on that port now: "
                   "connect to the node again");
    case ChannelAnswer::kOtherVersion:
      return other_version;
    case ChannelAnswer::kTooManyChannels:
      return Error(Errc::kBusy,
                   "the holder has as many channels of this session as it allows; ask for fewer "
                   "channels per rail");
  }
  return Error(Errc::kProtocol, "unknown answer to the preface");
}

}  // namespace

std::uint64_t channel_name(const DataSocket& socket) noexcept {
  return xxh3_64(socket.local_name());
}

/// Shared with the timer's callback, which may be queued already when the frame goes.
struct ChannelOpener::Attempt {
  Socket socket;
  bool over = false;
  bool expired = false;
};

ChannelOpener::ChannelOpener(asio::any_io_executor executor, Clock& clock,
                             const TcpOptions& options)
    : executor_(std::move(executor)), clock_(clock), options_(options) {}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<Socket>> ChannelOpener::open(RailEndpoint remote, TimePoint deadline) {
  const std::string name = format_host_port(remote.address, remote.port);
  std::error_code error;
  const auto address = asio::ip::make_address(remote.address, error);
  if (error || remote.port == 0) {
    Error malformed(Errc::kInvalidArgument, Stage::kConnect,
                    "the holder's door has no numeric address and port");
    co_return std::move(malformed).on_peer(name);
  }
  if (aborted_) co_return Error(Errc::kClosed, Stage::kConnect, "the rail was closed");
  auto made = make_socket(address.is_v6());
  if (!made.ok()) co_return std::move(made).error().on_peer(name);
  const auto attempt = std::make_shared<Attempt>();
  attempt->socket = std::move(made).value();
  attempt_ = attempt;
  const auto timer = clock_.make_timer(executor_);
  timer->wait_until(deadline, [attempt](bool expired) {
    if (!expired || attempt->over) return;
    attempt->expired = true;
    attempt->socket->close();
  });
  const std::error_code failure =
      co_await attempt->socket->connect(tcp::endpoint(address, remote.port));
  Result<void> shaken;
  if (failure) {
    shaken = Error(Errc::kConnectFailed,
                   fmt::format("no connection from {}: {}; check that the holder's port listens "
                               "there and that this address has a route to it",
                               options_.local_address, failure.message()));
  } else {
    shaken = co_await shake_hands(*attempt->socket, remote);
  }
  attempt->over = true;
  attempt_.reset();
  if (aborted_) {
    shaken = Error(Errc::kClosed, "the rail was closed");
  } else if (attempt->expired) {
    shaken = Error(Errc::kDeadline,
                   fmt::format("no data channel from {} before the deadline; check that no "
                               "firewall drops packets between the two addresses",
                               options_.local_address));
  }
  if (!shaken.ok()) co_return std::move(shaken).error().at(Stage::kConnect).on_peer(name);
  co_return std::move(attempt->socket);
}
#pragma GCC diagnostic pop

void ChannelOpener::abort() noexcept {
  aborted_ = true;
  if (attempt_ != nullptr) attempt_->socket->close();
}

Result<Socket> ChannelOpener::make_socket(bool v6) const {
  std::error_code error;
  const auto local = asio::ip::make_address(options_.local_address, error);
  tcp::socket socket(executor_);
  if (!error) socket.open(v6 ? tcp::v6() : tcp::v4(), error);
  if (!error) {
    apply_buffer_sizes(socket.native_handle(), options_);
    bind_local_address(socket, local, error);
  }
  if (error) {
    return Error(Errc::kConnectFailed, Stage::kConnect,
                 fmt::format("no socket on the local address {}: {}; check that it is one of this "
                             "machine's, and of the peer's family",
                             options_.local_address, error.message()));
  }
  return std::make_unique<DataSocket>(std::move(socket));
}

Task<Result<void>> ChannelOpener::shake_hands(DataSocket& socket, RailEndpoint remote) {
  ChannelPreface preface;
  preface.token = remote.token;
  preface.name = channel_name(socket);
  const ChannelPrefaceBytes question = encode(preface);
  ChannelPrefaceAnswerBytes bytes{};
  Transferred::State state = co_await socket.send_all(std::span(question));
  if (state == Transferred::State::kSome) {
    state = co_await socket.receive_all(std::span(bytes));
  }
  if (state != Transferred::State::kSome) {
    co_return Error(Errc::kConnectionLost,
                    "the connection was closed while the data channel opened; check that the port "
                    "belongs to a corail node with free channels");
  }
  const auto answer = decode_channel_preface_answer(bytes);
  if (!answer.ok()) co_return answer.error();
  co_return judge(*answer);
}

}  // namespace corail
