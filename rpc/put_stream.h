#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/exec/task.h"
#include "engine/object/object_descriptor.h"
#include "engine/read/cancel_token.h"
#include "engine/read/when_full.h"

namespace corail {

struct PutOptions {
  /// A constructor, because GCC 12 destroys braced aggregates twice in a co_await expression.
  PutOptions() {}

  std::uint64_t size = 0;                // bytes of the object; exactly so many are written
  std::uint64_t stripe_size = 4 * kMiB;  // bytes, a multiple of kGranuleBytes
  /// Commit only while this is the key's generation; 0: only while there is no such key.
  std::optional<ObjectGeneration> if_generation;
  Duration deadline = std::chrono::seconds(60);  // from begin to commit, waits for bytes included
  /// Where the budget of puts (NodeOptions::put_bytes) has no room: wait for it, until the deadline
  /// or a cancel, or be refused at once with kQuotaExceeded.
  WhenFull when_full = WhenFull::kWait;
  CancelToken cancel;  // pulling it fails the put; a commit that was sent goes its way
};

/// A put under way. Nobody sees anything of it before commit() has succeeded.
///
/// One call at a time, on the executor of the node. Ended by commit() or abort(); destroying it
/// before aborts it, without waiting for that. What fails once fails for good: the put is then only
/// good for abort(), which a failed commit() has done already. A put that is cancelled, or whose
/// time is over, or whose peer is closed, fails with kCancelled, kDeadline, kConnectionLost. What
/// the home could not pull or store it says in its own words, with kRefused where it has no code
/// that a peer is believed.
class PutStream {
 public:
  virtual ~PutStream() = default;

  /// The name of the put, and of what it makes.
  virtual ObjectGeneration generation() const noexcept = 0;

  /// The next bytes of the object, any number of them; copied when this returns. Waits while as
  /// many stripes as the put has memory for are on their way. kInvalidArgument: more than its size.
  virtual Task<Result<void>> write(std::span<const std::byte> bytes) = 0;

  /// Waits until the home has all stripes, then makes them the key's generation. kByteCountMismatch
  /// (not all bytes were written) leaves the put open. kGenerationChanged: if_generation does not
  /// hold, or a put that began later was committed. After kDeadline and kConnectionLost nobody
  /// knows whether it was committed: look the object up.
  virtual Task<Result<ObjectDescriptor>> commit() = 0;

  /// Gives the put up; the home keeps nothing of it. Idempotent. When it returns nothing reads the
  /// put's memory any more. A home that cannot be told finds out by itself.
  virtual Task<void> abort() = 0;
};

}  // namespace corail
