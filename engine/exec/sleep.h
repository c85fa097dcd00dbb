#pragma once

#include "engine/base/clock.h"
#include "engine/exec/task.h"

namespace corail {

/// Waits on the timer until `when`: true expired, false cancelled by timer.cancel().
///
/// Called on the timer's executor. The timer must live until this returns: a timer destroyed
/// earlier leaves the coroutine asleep until its io_context ends. Asio's cancellation has no
/// effect.
Task<bool> sleep_until(Timer& timer, TimePoint when);

}  // namespace corail
