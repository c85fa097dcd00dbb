#pragma once

#include <atomic>
#include <cstdint>

#include "engine/base/ids.h"

namespace corail {

enum class ReadPhase : std::uint8_t { kLive, kCommitting, kCommitted, kCancelled };

/// The read's one atomic (contract 2): live -> committing -> committed | cancelled, together with
/// the epoch, in one word, so that no cancel slips in between a look at the one and a change of the
/// other. Owned by the read, shared with whoever may cancel it; must outlive both. Any thread,
/// never blocks.
///
/// It decides only whether data is handed over. Memory is protected by pins, not by this: a device
/// does not read our epoch.
class ReadState {
 public:
  /// `first`: the epoch of the first attempt. Reads of parts of one lease differ in it.
  explicit ReadState(EpochNumber first = EpochNumber(1))
      : word_(pack(first.value(), ReadPhase::kLive)) {}
  ReadState(const ReadState&) = delete;
  ReadState& operator=(const ReadState&) = delete;

  ReadPhase phase() const noexcept { return phase_of(word_.load(std::memory_order_acquire)); }
  EpochNumber epoch() const noexcept { return epoch_of(word_.load(std::memory_order_acquire)); }

  /// Whether work of that epoch still has a purpose. A hint: it may change right after.
  bool is_live(EpochNumber epoch) const noexcept {
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    return epoch_of(word) == epoch && phase_of(word) <= ReadPhase::kCommitting;
  }

  /// Ends the read and bumps the epoch. True: the read is cancelled, by this call or an earlier
  /// one, and will never commit. False: it had committed.
  bool try_cancel() noexcept {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    while (phase_of(word) <= ReadPhase::kCommitting) {
      const std::uint64_t next = pack(epoch_of(word).value() + 1, ReadPhase::kCancelled);
      if (word_.compare_exchange_weak(word, next, std::memory_order_acq_rel)) return true;
    }
    return phase_of(word) == ReadPhase::kCancelled;
  }

  /// live -> committing, if the epoch is still the one that the attempt began with.
  bool begin_commit(EpochNumber epoch) noexcept {
    std::uint64_t word = pack(epoch.value(), ReadPhase::kLive);
    return word_.compare_exchange_strong(word, pack(epoch.value(), ReadPhase::kCommitting),
                                         std::memory_order_acq_rel);
  }

  /// committing -> committed: the linearization point. False: a cancel came first.
  bool commit(EpochNumber epoch) noexcept {
    std::uint64_t word = pack(epoch.value(), ReadPhase::kCommitting);
    return word_.compare_exchange_strong(word, pack(epoch.value(), ReadPhase::kCommitted),
                                         std::memory_order_acq_rel);
  }

 private:
  static constexpr std::uint64_t pack(std::uint64_t epoch, ReadPhase phase) noexcept {
    return epoch << 2 | static_cast<std::uint64_t>(phase);
  }
  static constexpr EpochNumber epoch_of(std::uint64_t word) noexcept {
    return EpochNumber(word >> 2);
  }
  static constexpr ReadPhase phase_of(std::uint64_t word) noexcept {
    return static_cast<ReadPhase>(word & 3);
  }

  std::atomic<std::uint64_t> word_;
};

}  // namespace corail
