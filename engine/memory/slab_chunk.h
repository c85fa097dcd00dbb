#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "engine/memory/pin.h"

namespace corail {

/// What a chunk is a right to: bytes of a pool's slab, or of memory of a caller's own. Destroyed
/// with the last copy of the chunk and the last pin, on whichever thread that happens.
class ChunkMemory {
 public:
  virtual ~ChunkMemory() = default;
  virtual std::span<std::byte> bytes() const noexcept = 0;
  virtual std::int32_t numa_node() const noexcept = 0;
  virtual bool engine_owned() const noexcept = 0;
  virtual void quarantine() const noexcept = 0;
};

/// A right to some bytes that reads land in. Copies share it; the bytes go back to the pool, or are
/// the caller's alone again, with the last copy or pin, on whichever thread that happens (I6), also
/// after the pool itself is gone. Distinct copies may be used on distinct threads.
class SlabChunk {
 public:
  SlabChunk() = default;
  explicit SlabChunk(std::shared_ptr<const ChunkMemory> memory) : memory_(std::move(memory)) {}

  explicit operator bool() const noexcept { return memory_ != nullptr; }
  std::span<std::byte> bytes() const noexcept {
    return memory_ ? memory_->bytes() : std::span<std::byte>();
  }
  std::int32_t numa_node() const noexcept { return memory_ ? memory_->numa_node() : 0; }
  /// Whether the engine may keep the bytes for ever; else they are a caller's own.
  bool engine_owned() const noexcept { return !memory_ || memory_->engine_owned(); }
  Pin pin() const { return Pin(memory_); }
  void reset() noexcept { memory_.reset(); }

  /// The bytes will never be reused or unmapped, because something that could not be stopped may
  /// still write into them (contract 4). Counted by the pool. A caller's own are never given back.
  /// Any thread.
  void quarantine() const noexcept {
    if (memory_) memory_->quarantine();
  }

 private:
  std::shared_ptr<const ChunkMemory> memory_;
};

}  // namespace corail
