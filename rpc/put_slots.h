#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/memory/pin.h"
#include "rpc/put_sources.h"

namespace corail {

class PutSlots;

/// The right to the memory of one stripe. Shared with the pins of slices that are being sent from
/// it; with the last share the slot is free again. Move and copy anywhere.
class PutSlot {
 public:
  PutSlot() = default;

  explicit operator bool() const noexcept { return use_ != nullptr; }
  std::span<std::byte> bytes() const noexcept;
  /// The first `length` bytes, as they are offered to the home.
  PutOffer offer(std::uint64_t length) const;
  void reset() noexcept { use_.reset(); }

 private:
  friend class PutSlots;
  class Use;
  explicit PutSlot(std::shared_ptr<const Use> use) : use_(std::move(use)) {}

  std::shared_ptr<const Use> use_;
};

/// The memory of one put, cut into slots of a stripe each. Shared by the put and the slots that are
/// in use; taken from on home only, while slots come back on any thread.
class PutSlots : public std::enable_shared_from_this<PutSlots> {
 public:
  /// `came_back` is called on home whenever a slot is free again; until close().
  PutSlots(asio::any_io_executor home, std::shared_ptr<PutMemory> memory, std::uint64_t slot_bytes,
           std::uint32_t slots, std::function<void()> came_back);

  /// A free slot, or none.
  PutSlot take();
  /// The put has ended: no slot is taken any more, and the memory goes with those in use.
  void close() noexcept;

 private:
  friend class PutSlot::Use;
  void give_back(std::uint32_t slot) noexcept;

  const asio::any_io_executor home_;
  std::shared_ptr<PutMemory> memory_;  // null once closed
  const std::uint64_t slot_bytes_;
  std::function<void()> came_back_;
  std::vector<std::uint32_t> free_;
};

}  // namespace corail
