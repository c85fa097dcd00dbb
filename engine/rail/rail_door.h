#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/pin.h"
#include "engine/rail/push.h"
#include "engine/rail/rail_endpoint.h"
#include "engine/rail/slice.h"

namespace corail {

/// Decides whether a holder serves a one-sided read. Implemented by the store's lease table. Any
/// thread, never blocks for long; must outlive every session that was opened with it.
class LeaseGate {
 public:
  virtual ~LeaseGate() = default;

  /// The bytes, pinned (I6), if all of [offset, offset + length) of the region lies inside a live
  /// lease that this session holds for this read; else kLeaseExpired or kRefused. Every argument
  /// but the session is remote input (I5).
  virtual Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                                    std::uint64_t offset, std::uint64_t length) = 0;
};

/// The holder's side of a port: lets the data channels of accepted sessions in and serves their
/// reads. One per local port; members are called on the port's executor. Owned by the node; close()
/// before destruction.
class RailDoor {
 public:
  virtual ~RailDoor() = default;

  /// Starts accepting. Fails when the address cannot be bound.
  virtual Result<void> open() = 0;

  /// Admits channels with the token until drop(session). The endpoint is what the requester needs
  /// to connect.
  virtual RailEndpoint admit_session(SessionId session, ChannelToken token, LeaseGate& gate) = 0;

  /// Closes the session's channels and forgets its token. When it returns, nothing of the session
  /// is being sent and every pin it held is gone.
  virtual Task<void> drop_session(SessionId session) = 0;

  /// Answers what a rail of an admitted session says before its channels exist (RailGreeter).
  /// `words` are remote input (I5). Fails with kRefused where the transport's channels speak for
  /// themselves.
  virtual Task<Result<std::string>> greet(SessionId session, std::string words);

  /// Writes `bytes` where the order of the session's requester says, and returns when the transport
  /// has sent them, or will never: nothing of this order is written afterwards, and the pin is gone
  /// (I6). The order is remote input: kRefused where it names no channel of the session, a number
  /// that was used, or memory that its key is not for. kConnectionLost, kRailFailed: the channel
  /// ended. `cancelled()` is asked before each part is sent, so that a read which is given up costs
  /// no more than what is on its way; then this fails with kCancelled.
  virtual Task<Result<void>> push(SessionId session, PushOrder order, PinnedBytes bytes,
                                  std::function<bool()> cancelled);

  virtual Task<void> close() = 0;
};

inline Task<Result<void>> RailDoor::push(SessionId /*session*/, PushOrder /*order*/,
                                         PinnedBytes /*bytes*/,
                                         std::function<bool()> /*cancelled*/) {
  co_return Error(Errc::kRefused, Stage::kServe, "the rails of this port do not write");
}

inline Task<Result<std::string>> RailDoor::greet(SessionId /*session*/, std::string /*words*/) {
  co_return Error(Errc::kRefused, Stage::kServe,
                  "the rails of this port open their channels by themselves");
}

}  // namespace corail
