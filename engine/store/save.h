#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/result.h"

namespace corail {

namespace detail {
class SaveState;
}

/// Blocks on their way into the store: begin -> write each part, put_part -> seal. Until seal()
/// nobody else can see them; destroyed unsealed, it gives their bytes back. Owned by the saver;
/// must not outlive its BlockStore.
///
/// writable() and put_part() touch this save only: a saver per part may call them on a thread of
/// its own, each for its own part. Everything else is for the store's home executor.
class Save {
 public:
  explicit Save(std::unique_ptr<detail::SaveState> state);
  Save(Save&&) noexcept;
  Save& operator=(Save&&) noexcept;
  ~Save();

  /// Positions in the request's hashes that must be written, ascending. The others are stored
  /// already.
  std::span<const std::uint32_t> new_blocks() const noexcept;

  /// Where the segment of a new block goes; empty for a block that is not new, a lane out of range
  /// and after seal(), because sealed bytes are immutable. O(log new blocks).
  std::span<std::byte> writable(std::uint32_t position, std::uint32_t lane) const noexcept;

  /// Says that all segments of the part are written, and computes their checksum terms, which costs
  /// a pass over the bytes. Fails with kInvalidArgument for an unknown part, one that was put
  /// before, and after seal().
  Result<void> put_part(std::uint32_t part);

  /// Makes the blocks visible, all at once. A block that somebody else sealed meanwhile is kept and
  /// ours dropped. Fails with kInvalidArgument when a part was not put, or it was sealed before.
  Result<void> seal();

 private:
  std::unique_ptr<detail::SaveState> state_;
};

}  // namespace corail
