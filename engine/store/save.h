#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/result.h"
#include "engine/memory/pin.h"

namespace corail {

namespace detail {
class SaveState;
}

/// Blocks on their way into the store: begin -> write each part, put_part -> seal. Until seal()
/// nobody else can see them; destroyed unsealed, or unsealed when StoreOptions::save_ttl is over,
/// it gives their bytes back. Owned by the saver; must not outlive its BlockStore.
///
/// Bytes that were given back are soon another save's. A saver that might be late with its writes,
/// because a thread or a device of its own does them, holds a pin() for as long as they may go on.
///
/// pin(), writable() and put_part() touch this save only: a saver per part may call them on a
/// thread of its own, each for its own part. Everything else is for the store's home executor.
class Save {
 public:
  explicit Save(std::unique_ptr<detail::SaveState> state);
  Save(Save&&) noexcept;
  Save& operator=(Save&&) noexcept;
  ~Save();

  /// Positions in the request's hashes that must be written, ascending. The others are stored
  /// already.
  std::span<const std::uint32_t> new_blocks() const noexcept;

  /// Keeps the bytes of one part from being reused, also when the save expires meanwhile (I6); not
  /// the save from expiring. Fails with kInvalidArgument for an unknown part and after seal(),
  /// kDeadline when the save has expired.
  Result<Pin> pin(std::uint32_t part) const;

  /// Where the segment of a new block goes; empty for a block that is not new, a lane out of range,
  /// an expired save, and after seal(), because sealed bytes are immutable. To be written until the
  /// save expires, or under a pin(). O(log new blocks).
  std::span<std::byte> writable(std::uint32_t position, std::uint32_t lane) const noexcept;

  /// Says that all segments of the part are written, and computes their checksum terms, which costs
  /// a pass over the bytes. Fails with kInvalidArgument for an unknown part, one that was put
  /// before, and after seal(); kDeadline when the save has expired, also while this runs.
  Result<void> put_part(std::uint32_t part);

  /// Makes the blocks visible, all at once. A block that somebody else sealed meanwhile is kept and
  /// ours dropped. Fails with kInvalidArgument when a part was not put, or it was sealed before;
  /// kDeadline when the save has expired.
  Result<void> seal();

 private:
  std::unique_ptr<detail::SaveState> state_;
};

}  // namespace corail
