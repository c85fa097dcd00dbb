#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/pin.h"
#include "engine/rail/push.h"
#include "engine/rail/rail_endpoint.h"

namespace corail {

/// The holder's doors for data channels, as the control channel sees them. Implemented by the node
/// over its ports; members are called on the home executor.
class RailHost {
 public:
  virtual ~RailHost() = default;

  /// Lets the session's data channels in and says where they shall connect to, with the token that
  /// opens each: 1 to 64 endpoints.
  virtual Task<Result<std::vector<RailEndpoint>>> admit(SessionId session) = 0;

  /// What a rail of the session says to the door, and the door's answer: RailDoor::greet. Fails
  /// with kInvalidArgument where there is no such door.
  virtual Task<Result<std::string>> greet(SessionId session, std::uint32_t door,
                                          std::string words) = 0;

  /// Has the door write the bytes where the session's requester wants them: RailDoor::push, in the
  /// order of the calls. Fails with kInvalidArgument where there is no such door. `cancelled` is
  /// asked on any thread.
  virtual Task<Result<void>> push(SessionId session, std::uint32_t door, PushOrder order,
                                  PinnedBytes bytes, std::function<bool()> cancelled);

  /// Forgets the session. When it returns nothing is being sent for it any more (I6). Called once
  /// for each session that was admitted, or tried to be.
  virtual Task<void> drop(SessionId session) = 0;
};

inline Task<Result<void>> RailHost::push(SessionId /*session*/, std::uint32_t /*door*/,
                                         PushOrder /*order*/, PinnedBytes /*bytes*/,
                                         std::function<bool()> /*cancelled*/) {
  co_return Error(Errc::kRefused, Stage::kServe, "this node writes nothing into others' memory");
}

}  // namespace corail
