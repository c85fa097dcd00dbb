#pragma once

#include <cstdint>
#include <string_view>

#include "engine/base/units.h"

namespace corail {

/// What a request or notification is about. Numbers are for ever.
enum class Method : std::uint16_t {
  kNone = 0,  // frames that belong to no method
  kHello = 1,
  kOpenRails = 2,
  kGetRegions = 3,
  kRegionsChanged = 4,
  kGoodbye = 5,
  kGreetDoor = 6,
  kQueryBlocksForTransfer = 16,
  kConfirmAndRelease = 17,
  kReleaseLease = 18,
  kQuiesceRead = 19,
  kRenewLease = 20,
  kConfirmLease = 21,
  kLaneSums = 22,
  kLookupObject = 32,
  kOpenObject = 33,
  kListObjects = 34,
  kDeleteObject = 35,
  kReadStripes = 36,
  kBeginPut = 48,
  kPutStripe = 49,
  kCommitPut = 50,
  kAbortPut = 51,
};

/// Bodies never get longer than this, whatever their method (I8).
inline constexpr std::uint32_t kMaxFrameBytes = 64 * kMiB;

/// What a body of a method may at most measure; a longer one is refused on seeing its header,
/// before anything is allocated (I5). 0: the method has no such frame.
struct MethodLimits {
  std::string_view name;
  std::uint32_t request_bytes = 0;
  std::uint32_t answer_bytes = 0;  // of one part
  std::uint32_t notify_bytes = 0;
};

/// Methods that this side does not know get small limits, so that a peer of a later version is
/// answered with an error, not cut off.
MethodLimits limits_of(Method method) noexcept;

}  // namespace corail
