#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/read/read_report.h"

namespace corail {

/// What can hold a read back.
enum class Bottleneck : std::uint8_t {
  kNetwork,   // the rails carried what they can
  kMemory,    // copying or landing ran as fast as memory is
  kDisk,      // an owner waited for its device
  kSoftware,  // planning, posting or hashing
  kPcie,      // the link between a NIC and its host
  kUnknown,   // nothing stands out
};

std::string_view to_string(Bottleneck bottleneck) noexcept;

/// What a rail can carry, in bytes a second; 0 where nobody knows.
struct RailCapacity {
  double network = 0;
  double pcie = 0;
};

/// What is known of a read besides its report.
struct ReadSurroundings {
  std::span<const RailCapacity> rails;  // by index in the report's rails; may be shorter
  double memory = 0;                    // bytes a second that this host can land; 0: not known
  /// How long the busiest device of any owner was busy for it, where somebody knows; what owners
  /// tell of slices that they write is in the report.
  Duration disk{};
};

/// Who held the read back, and the evidence in one sentence for a person.
struct Attribution {
  Bottleneck bottleneck = Bottleneck::kUnknown;
  std::string evidence;
};

/// A suspect is named where it accounts for this part of the read's time, and for this much more
/// than the next one.
inline constexpr double kStandsOutFrom = 0.7;
inline constexpr double kStandsOutBy = 0.05;

/// Compares by what part of its time each suspect would have needed the read for itself. Pure.
Attribution attribute(const ReadReport& report, const ReadSurroundings& surroundings);

}  // namespace corail
