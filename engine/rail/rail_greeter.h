#pragma once

#include <string>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/rail/greeting_limit.h"

namespace corail {

/// Carries words of a transport to the door that it connects to, and the door's answer back. For
/// transports whose channels cannot speak before both ends know each other. Implemented over the
/// control connection; shared with the rails, which are closed before it goes. Any executor.
class RailGreeter {
 public:
  virtual ~RailGreeter() = default;

  /// Both at most kMaxGreetingBytes long. The answer is remote input (I5). Fails with what the door
  /// or the connection says, kDeadline.
  virtual Task<Result<std::string>> greet(std::string words, TimePoint deadline) = 0;
};

}  // namespace corail
