#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace corail {

/// Hands out ranges of [0, capacity): address-ordered first fit, so what is allocated in sequence
/// on empty memory lies back to back. It knows only what is free, hence a range may be given back
/// in pieces. Pure bookkeeping: a value, one thread at a time, the owner locks.
class ExtentAllocator {
 public:
  explicit ExtentAllocator(std::uint64_t capacity);

  /// Offset of `bytes` free bytes at a multiple of `alignment` (a power of two), or nothing when no
  /// hole is large enough. 0 bytes fit nowhere. O(holes).
  std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment);

  /// Gives back [offset, offset + bytes), all of which must be allocated; a double free ends the
  /// process, because two owners of one range are about to corrupt each other. O(log holes).
  void free(std::uint64_t offset, std::uint64_t bytes);

  std::uint64_t capacity() const noexcept { return capacity_; }
  std::uint64_t free_bytes() const noexcept { return free_bytes_; }
  std::size_t holes() const noexcept { return holes_.size(); }

 private:
  std::uint64_t capacity_;
  std::uint64_t free_bytes_;
  std::map<std::uint64_t, std::uint64_t> holes_;  // offset -> bytes; never adjacent
};

}  // namespace corail
