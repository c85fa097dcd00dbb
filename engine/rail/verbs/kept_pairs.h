#pragma once

#include <cstddef>
#include <memory>

#include "engine/base/clock.h"
#include "engine/rail/verbs/verbs_port.h"
#include "engine/verbs/queue_pair.h"

namespace corail {

/// How long a device that refuses to destroy queue pairs is asked again and again. With what else
/// close() waits for less than kRailCloseTime.
inline constexpr Duration kDestroyTime = std::chrono::seconds(1);
/// Between two of those questions.
inline constexpr Duration kDestroyPause = std::chrono::milliseconds(100);

/// Keeps a queue pair that its device would not destroy for as long as the process lives, and with
/// it the port, whose completion queue it uses. Nothing may be posted on it whose memory the device
/// could still write (contract 4). The caller has logged why. Any thread.
void keep_for_ever(std::shared_ptr<VerbsPort> port, std::unique_ptr<QueuePair> pair);

/// Queue pairs that this process keeps so. Any thread.
std::size_t kept_pairs() noexcept;

}  // namespace corail
