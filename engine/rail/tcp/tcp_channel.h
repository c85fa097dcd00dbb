#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/error.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/push.h"
#include "engine/rail/slice.h"
#include "engine/rail/tcp/data_socket.h"
#include "engine/rail/tcp/in_flight.h"
#include "engine/rail/tcp/reply_reader.h"
#include "engine/rail/tcp/tcp_options.h"

namespace corail {

class ChannelTurns;

/// The requester's end of one data channel: asks for slices, and lands what comes. Pushed ones are
/// asked for through the courier, in the order of their numbers.
///
/// Owned by its transport, on whose executor everything happens. Two coroutines run in the scope
/// given to start() until end(); the channel must outlive them. A cancel does not reach them: it
/// comes as give_up().
class TcpChannel {
 public:
  /// Without a courier no pushed slices may be posted.
  TcpChannel(std::unique_ptr<DataSocket> socket, asio::any_io_executor executor,
             const TcpOptions& options, std::shared_ptr<PushCourier> courier);
  ~TcpChannel();
  TcpChannel(const TcpChannel&) = delete;
  TcpChannel& operator=(const TcpChannel&) = delete;

  /// `ended` is called once, by end(). `turns` says when it may receive, and outlives the scope's
  /// tasks.
  void start(TaskScope& scope, std::function<void()> ended, ChannelTurns& turns);

  /// The channel must be usable. Never calls a sink. What it asks for goes out with flush().
  void post(const PostedSlice& posted);
  /// On the executor, unless flush() has come first.
  void flush_later();

  /// Sends what waits, as far as the socket takes it at once; the rest follows by itself. Calls no
  /// sink either.
  void flush();

  /// Afterwards nothing writes into the destinations of the sink's slices, and the holder is being
  /// told to stop. The socket stays. Adds the slices to `given_up`: their outcome is the caller's
  /// to give.
  void give_up(const SliceSink& sink, std::vector<Slice>& given_up);

  /// Closes the socket and gives all slices this outcome. Idempotent.
  void end(const Error& error);

  bool usable() const noexcept { return !ended_by_.has_value(); }
  /// Why the channel ended; it must have.
  const Error& ended_by() const noexcept { return *ended_by_; }
  std::uint64_t received() const noexcept { return slices_.received(); }
  std::uint64_t outstanding() const noexcept { return slices_.outstanding(); }
  std::uint32_t live() const noexcept { return slices_.live(); }
  /// See InFlight.
  void look(Sharing& sharing) noexcept { slices_.look(sharing); }

 private:
  Task<void> receive_replies(ChannelTurns& turns);
  Task<void> send_requests();
  void start_waiting();
  void request(const Request& request);
  void order(const PostedSlice& posted);
  void answered(std::uint64_t order, Result<PushReceipt> receipt);
  Error lost(const Transferred& how) const;

  const std::unique_ptr<DataSocket> socket_;
  const std::shared_ptr<PushCourier> courier_;
  InFlight slices_;
  ReplyReader reader_;
  /// Encoded requests that wait for the socket. Bounded by the slots: one READ and one CANCEL each.
  std::vector<std::byte> outbox_;
  bool sending_ = false;  // send_requests() has taken a part of the stream out of the outbox
  Event outbox_filled_;
  std::function<void()> ended_;
  std::optional<Error> ended_by_;
  /// Keeps answers from reaching a channel that is gone.
  const std::shared_ptr<TcpChannel*> self_;
};

}  // namespace corail
