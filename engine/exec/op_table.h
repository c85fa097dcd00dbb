#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace corail {

/// Names one operation that a device or a peer will report back on. Plain numbers, never a pointer:
/// a stale or forged key is recognised instead of dereferenced.
struct OpKey {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;

  constexpr std::uint64_t packed() const noexcept {
    return (std::uint64_t{slot} << 32) | generation;
  }
  static constexpr OpKey unpack(std::uint64_t packed) noexcept {
    OpKey key;
    key.slot = static_cast<std::uint32_t>(packed >> 32);
    key.generation = static_cast<std::uint32_t>(packed);
    return key;
  }
  friend constexpr bool operator==(OpKey, OpKey) = default;
};

/// A fixed number of operations in flight. Allocates only when made. One thread at a time.
///
/// A key goes stale when its operation is erased, and stays so until the slot has been reused 2^32
/// times. The zero key is never valid.
template <typename Op>
class OpTable {
 public:
  explicit OpTable(std::uint32_t capacity) : slots_(capacity) {
    for (std::uint32_t i = capacity; i > 0; --i) {
      slots_[i - 1].next_free = free_;
      free_ = i - 1;
    }
  }

  /// Nothing when the table is full; `op` is then lost, so check size() first where that matters.
  std::optional<OpKey> insert(Op op) {
    if (free_ == kNone) return std::nullopt;
    OpKey key;
    key.slot = free_;
    Slot& slot = slots_[key.slot];
    slot.op.emplace(std::move(op));
    free_ = slot.next_free;
    key.generation = slot.generation;
    ++size_;
    return key;
  }

  /// Null for a key that is stale, forged or out of range. Valid until that key is erased.
  Op* find(OpKey key) noexcept {
    if (key.slot >= slots_.size()) return nullptr;
    Slot& slot = slots_[key.slot];
    if (slot.generation != key.generation || !slot.op) return nullptr;
    return &*slot.op;
  }

  /// False when find() would not have found it. Afterwards the key is stale.
  bool erase(OpKey key) noexcept {
    if (find(key) == nullptr) return false;
    Slot& slot = slots_[key.slot];
    // Out of the table first: destroying an operation may come back here.
    std::optional<Op> dying(std::move(slot.op));
    slot.op.reset();
    if (++slot.generation == 0) slot.generation = 1;
    slot.next_free = free_;
    free_ = key.slot;
    --size_;
    return true;
  }

  std::uint32_t size() const noexcept { return size_; }
  std::uint32_t capacity() const noexcept { return static_cast<std::uint32_t>(slots_.size()); }

  /// Calls f(OpKey, Op&) for every operation, by slot. `f` may erase the one it is given.
  template <typename F>
  void for_each(F f) {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      if (!slots_[i].op) continue;
      OpKey key;
      key.slot = i;
      key.generation = slots_[i].generation;
      f(key, *slots_[i].op);
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  struct Slot {
    std::optional<Op> op;
    std::uint32_t generation = 1;
    std::uint32_t next_free = kNone;
  };

  std::vector<Slot> slots_;
  std::uint32_t free_ = kNone;
  std::uint32_t size_ = 0;
};

}  // namespace corail
