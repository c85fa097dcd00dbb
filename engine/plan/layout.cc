#include "engine/plan/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/checksum.h"

namespace corail {
namespace {

bool same_sizes(const Slot& a, const Slot& b) noexcept {
  return a.k_bytes == b.k_bytes && a.v_bytes == b.v_bytes;
}

/// Hash of the sizes in little-endian order, so that every machine computes the same id.
std::uint64_t hash_sizes(std::span<const Slot> slots) {
  std::vector<std::byte> bytes;
  bytes.reserve(slots.size() * 8);
  for (const Slot& slot : slots) {
    for (const std::uint32_t size : {slot.k_bytes, slot.v_bytes}) {
      for (int shift = 0; shift < 32; shift += 8) {
        bytes.push_back(static_cast<std::byte>((size >> shift) & 0xFFU));
      }
    }
  }
  return xxh3_64(bytes);
}

}  // namespace

Result<Layout> Layout::make(std::vector<Slot> slots) {
  if (slots.empty() || slots.size() > kMaxSlots) {
    return Error(Errc::kInvalidArgument, fmt::format("a layout has 1 to {} slots, this one has {}",
                                                     kMaxSlots, slots.size()));
  }
  Layout layout;
  layout.lane_bytes_.reserve(slots.size() * 2);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    if (slot.k_bytes == 0 || slot.k_bytes > kMaxSegmentBytes || slot.v_bytes > kMaxSegmentBytes) {
      return Error(Errc::kInvalidArgument,
                   fmt::format("slot {} of the layout has segments of {} and {} bytes; the first "
                               "must have some, and neither more than {}",
                               i, slot.k_bytes, slot.v_bytes, kMaxSegmentBytes));
    }
    layout.lane_bytes_.push_back(slot.k_bytes);
    if (slot.v_bytes != 0) layout.lane_bytes_.push_back(slot.v_bytes);
    layout.block_bytes_ += std::uint64_t{slot.k_bytes} + slot.v_bytes;
  }
  layout.lane_bytes_.shrink_to_fit();
  layout.lane_offsets_.reserve(layout.lane_bytes_.size());
  std::uint64_t offset = 0;
  for (const std::uint32_t bytes : layout.lane_bytes_) {
    layout.lane_offsets_.push_back(offset);
    offset += bytes;
  }
  layout.id_ = hash_sizes(slots);
  layout.slots_ = std::move(slots);
  return layout;
}

bool Layout::same_shape(const Layout& other) const noexcept {
  return id_ == other.id_ && std::equal(slots_.begin(), slots_.end(), other.slots_.begin(),
                                        other.slots_.end(), same_sizes);
}

}  // namespace corail
