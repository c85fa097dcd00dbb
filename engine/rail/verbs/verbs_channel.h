#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/exec/event.h"
#include "engine/exec/op_table.h"
#include "engine/rail/slice.h"
#include "engine/rail/verbs/order_numbers.h"
#include "engine/verbs/queue_pair.h"
#include "engine/verbs/send_queue_account.h"

namespace corail {

/// Why a channel's queue pair takes no more requests.
enum class ChannelFault : std::uint8_t {
  kNone,     // it does
  kFence,    // we gave up what is posted
  kRefused,  // a request of ours was wrong, or the peer would not serve it
  kPath      // the path's fault; the rail is lost with it
};

/// A slice that the owner was told to write, and has not had its outcome.
struct OrderedSlice {
  std::uint64_t number = 0;  // of its order, on its channel
  Slice slice;
  SliceSink* sink = nullptr;
  bool landed = false;    // the device has said so
  bool answered = false;  // the owner has
  /// What it ends with once the queue pair is gone; none: flushed.
  std::optional<Error> failure{};
};

/// One queue pair of a rail, and what is posted on it. Owned by the transport, on its port's
/// thread.
struct VerbsChannel {
  VerbsChannel(std::uint32_t own_index, const asio::any_io_executor& executor)
      : index(own_index), failing_ended(executor) {}

  bool ready() const noexcept { return pair != nullptr && fault == ChannelFault::kNone; }
  /// The device has told of everything that was posted. Of a queue pair in ERR the RECVs are among
  /// that: their flush is what tells that the peer's WRITEs have stopped.
  bool drained() const noexcept { return account.outstanding() == 0 && receives.empty(); }
  /// One RECV is never used up: a fence waits for its flush. Nor may orders run so far ahead of one
  /// that a slow disk keeps that its number is too old when its bytes are there.
  bool takes_orders() const noexcept {
    const bool in_window =
        ordered.empty() || last_order + 1 - ordered.front().number < OrderNumbers::kWindow;
    return ready() && in_window && ordered.size() + 1 < receives.size();
  }

  const std::uint32_t index;
  std::unique_ptr<QueuePair> pair;  // none while it is being built
  std::uint32_t own_psn = 0;
  std::uint64_t peer_number = 0;  // names the queue pair at the other end
  SendQueueAccount account;
  std::vector<OpKey> receives;        // that are posted
  std::vector<OrderedSlice> ordered;  // fewer than those, oldest first
  std::uint64_t last_order = 0;       // grows over all queue pairs of the channel
  std::uint64_t bytes = 0;            // posted
  ChannelFault fault = ChannelFault::kNone;
  bool receive_failed = false;  // so that the queue pair is in ERR, whoever is to blame
  bool failing = false;         // a control thread moves it to ERR
  Event failing_ended;
  bool rebuilding = false;
  TimePoint built{};  // when the queue pair was ready
};

}  // namespace corail
