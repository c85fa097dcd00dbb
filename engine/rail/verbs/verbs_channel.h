#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/base/clock.h"
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

/// One queue pair of a rail, and what is posted on it. Owned by the transport, on its port's
/// thread.
struct VerbsChannel {
  explicit VerbsChannel(std::uint32_t own_index) : index(own_index) {}

  bool ready() const noexcept { return pair != nullptr && fault == ChannelFault::kNone; }
  /// The device has told of everything that was posted.
  bool drained() const noexcept { return account.outstanding() == 0; }

  const std::uint32_t index;
  std::unique_ptr<QueuePair> pair;  // none while it is being built
  std::uint32_t own_psn = 0;
  SendQueueAccount account;
  std::uint64_t bytes = 0;  // posted
  ChannelFault fault = ChannelFault::kNone;
  bool rebuilding = false;
  TimePoint built{};  // when the queue pair was ready
};

}  // namespace corail
