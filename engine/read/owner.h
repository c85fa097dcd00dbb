#pragma once

#include <span>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/read/cancel_token.h"

namespace corail {

/// Who owns what a read reads: the far end of the control channel, as the read session sees it.
/// Implemented by rpc over a session, and by scripted owners in tests. Members are called on the
/// read's home executor; the owner outlives the read.
class Owner {
 public:
  virtual ~Owner() = default;

  /// The nodes that it speaks for, each once; none: the one at the other end, whichever that is.
  virtual std::span<const NodeId> members() const noexcept { return {}; }

  /// "The lease never lapsed and the generation still holds", asked after the last payload byte has
  /// landed (contract 2). Success means exactly that; kLeaseExpired or kGenerationChanged are the
  /// owner's no; kDeadline and transport errors mean that nobody knows, which is a no as well.
  /// Confirming also releases. Fails with kCancelled soon after `cancel` was pulled: nobody needs
  /// to know any more.
  virtual Task<Result<void>> confirm_and_release(ReadId read, TimePoint deadline,
                                                 CancelToken cancel) = 0;

  /// The same, and the lease stays: other reads run under it, or may. The answer is about now; one
  /// that lapses later takes nothing back, because the payload had landed before this was asked.
  virtual Task<Result<void>> confirm(ReadId read, TimePoint deadline, CancelToken cancel) = 0;

  /// Gives the lease back, and with it tells the owner to send nothing more for this read (contract
  /// 3). The owner refuses what is asked for later; slices that its rails have admitted before may
  /// still be sent after the answer. So the answer proves nothing: each rail's own fence does. (On
  /// tcp that is local, and what still comes goes nowhere.) Where the owner writes what is read, it
  /// stops, and answers when nothing that it had begun is on its way any more. Idempotent; may
  /// overtake the query, which then leaves a tombstone at the holder.
  virtual Task<Result<void>> release(ReadId read, TimePoint deadline) = 0;
};

}  // namespace corail
