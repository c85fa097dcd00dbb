#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/clock.h"

namespace corail {

/// What can be made to go wrong on a mock rail; nastier than the devices that were measured.
enum class FaultKind : std::uint8_t {
  kCut,               // the device flushes everything, which is all that it says; the rail is dead
  kRefuse,            // the holder refuses the slice, and that kills the channel for everybody
  kStall,             // the slice never completes; what follows does
  kSlow,              // the link runs at `amount` bytes per second from here on
  kShort,             // the last `amount` bytes never arrive, yet the slice completes as a success
  kFlip,              // bit `amount` of the slice arrives flipped
  kDuplicate,         // the packet arrives once more, `delay` later
  kReorder,           // the packet arrives `delay` later than its turn, others overtake it
  kLate,              // this packet and the slice's further ones arrive `delay` late
  kEarlyCompletion,   // the device completes the slice `delay` before its last packet is placed
  kPacketAfterFence,  // a fence that is not the full one lets one packet through, `delay` after it
  kStuckFence,        // the device does not answer fences
  kStuckClose,        // nor closing, until MockTransport::unstick()
  kNoConnect,         // the link is down when the rail connects
};

/// One scripted fault.
struct Fault {
  Fault(FaultKind what, std::uint64_t at_slice) : kind(what), slice(at_slice) {}

  [[nodiscard]] Fault at_packet(std::uint64_t which) && {
    packet = which;
    return *this;
  }
  [[nodiscard]] Fault by(Duration how_late) && {
    delay = how_late;
    return *this;
  }
  [[nodiscard]] Fault of(std::uint64_t how_much) && {
    amount = how_much;
    return *this;
  }

  FaultKind kind;
  std::uint64_t slice;       // which one that the rail was given, counted from 0
  std::uint64_t packet = 0;  // which of the slice's, counted from 0
  Duration delay{0};
  std::uint64_t amount = 0;
};

/// What a mock rail does wrong, decided before it starts: an argument, nothing global. A value.
///
/// The two switches remove a guard of the transport, for the tests that show what it is good for;
/// everything else is the device misbehaving under a transport that does its work.
class FaultScript {
 public:
  FaultScript() = default;

  FaultScript& add(Fault fault);

  /// The first fault of that kind for the slice, or null. kinds that are about the rail, not about
  /// a slice, ignore the number.
  const Fault* find(FaultKind kind, std::uint64_t slice) const noexcept;
  const Fault* find(FaultKind kind) const noexcept;

  /// The fence only puts the queue pair into its error state, which is no fence.
  bool weak_fence = false;
  /// The transport believes a completion although bytes are missing.
  bool trust_completions = false;

 private:
  std::vector<Fault> faults_;
};

}  // namespace corail
