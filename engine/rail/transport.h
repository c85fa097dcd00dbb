#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/rail/rail_endpoint.h"
#include "engine/rail/slice.h"

namespace corail {

/// What a transport can and cannot do; fixed once connected.
struct Capabilities {
  std::uint64_t max_slice_bytes = 0;  // the transport's limit for one slice
  std::uint32_t max_slices =
      0;  // posted and without an outcome, at most, over all channels of the rail
  bool reports_landing = false;  // whether SliceSink::on_landed is called
  /// Whether a fence flushes its own sink's slices only. Where not, it is the last resort.
  bool fence_is_local = false;
  bool needs_registration = false;  // whether destinations must lie in registered memory
  bool pushes = false;              // whether post() takes pushed slices

  bool operator==(const Capabilities&) const = default;
};

/// THE seam below the engine: one rail's connection to its peer port, whatever carries the bytes.
/// Above it nothing knows sockets, queue pairs or models; below it nothing knows reads, plans or
/// leases.
///
/// Owned by its Rail; every member is called on the port's executor, which must outlive it. A
/// transport that was connected must be closed with an awaited close() before it is destroyed.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Opens every channel of the rail to `remote` with the token in it, or fails as a whole. Once
  /// only.
  virtual Task<Result<void>> connect(RailEndpoint remote, TimePoint deadline) = 0;

  /// Any thread, once connected.
  virtual const Capabilities& capabilities() const noexcept = 0;

  /// Starts one-sided reads. Never blocks, never fails at once: whatever happens to a slice, also
  /// on a dead rail, arrives as its outcome at the sink. The caller keeps within capabilities() and
  /// holds destination and sink until then. The slices are copied.
  virtual void post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) = 0;

  /// Lets the peer write into this memory, for the pushed slices of `sink` only, until revoke().
  /// Before the first of them is posted. Fails with what the device says, or kDeadline.
  virtual Task<Result<void>> grant(SliceSink& sink, std::vector<std::span<std::byte>> memory,
                                   TimePoint deadline);

  /// Takes that back. Once each pushed slice of the sink has had its outcome, which is what makes
  /// the memory quiescent; this only ends a right that nobody uses any more.
  virtual Task<void> revoke(SliceSink& sink);

  /// What post() has queued goes out now, where the transport would do it a little later by itself.
  virtual void flush() {}

  /// When this returns a success, every slice posted for `sink` has had its outcome and nothing,
  /// here or remote, writes into their destinations any more (I1). Slices of other sinks may be
  /// flushed too where the transport cannot tell them apart; they are no failures and may be posted
  /// again. Fails with kStuck when the device did not answer within `deadline`.
  virtual Task<Result<void>> fence(SliceSink& sink, TimePoint deadline) = 0;

  /// Gives every posted slice its outcome, then lets go of channels. Idempotent. No fault of the
  /// path or the peer can stop it; a device that hangs can, and then it never returns: whoever
  /// waits for it bounds the wait (Rail::close).
  virtual Task<void> close() = 0;

  using Lost = std::function<void(const Error&)>;

  /// `lost` is to be called with the reason when usable() turns false, unless close() did it; also
  /// while nothing is posted, which no outcome would tell. The outcomes of what is posted come
  /// first, because they know better whose fault it was. Before connect(). A transport that cannot
  /// notice it ignores this: the next slices tell.
  virtual void when_lost(Lost /*lost*/) {}

  /// Whether slices posted now have a chance; false after a channel was lost.
  virtual bool usable() const noexcept = 0;
};

inline Task<Result<void>> Transport::grant(SliceSink& /*sink*/,
                                           std::vector<std::span<std::byte>> /*memory*/,
                                           TimePoint /*deadline*/) {
  co_return ok_result();
}

inline Task<void> Transport::revoke(SliceSink& /*sink*/) { co_return; }

}  // namespace corail
