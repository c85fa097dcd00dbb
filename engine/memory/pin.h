#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

namespace corail {

/// The right to bytes that a transfer may still touch (I6): the owner behind it is told only when
/// the last pin is gone, and only then reuses the bytes. Copying shares the right. Any thread; the
/// last pin may go on any thread.
class Pin {
 public:
  Pin() = default;
  explicit Pin(std::shared_ptr<const void> keeper) : keeper_(std::move(keeper)) {}

  explicit operator bool() const noexcept { return keeper_ != nullptr; }
  void reset() noexcept { keeper_.reset(); }

 private:
  std::shared_ptr<const void> keeper_;
};

/// Bytes of this process together with the right to read them.
struct PinnedBytes {
  PinnedBytes() = default;
  PinnedBytes(std::span<const std::byte> span, Pin right) : bytes(span), pin(std::move(right)) {}

  std::span<const std::byte> bytes;
  Pin pin;
};

}  // namespace corail
