#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/result.h"

namespace corail {

/// What a policy may know of a rail.
struct RailLoad {
  bool ready = true;  // takes slices at all
  std::uint64_t in_flight_bytes = 0;
  std::uint64_t window_bytes = 0;  // in flight at the most; one slice may exceed an empty window
  std::int32_t numa_node = 0;      // of its local port
};

/// What a policy may know of the next slice.
struct SliceFacts {
  std::uint64_t number = 0;  // slices handed out before it
  std::uint64_t bytes = 0;
  std::int32_t numa_node = 0;  // of the local chunk
};

/// Whether the rail's window has room: it is empty, or the slice fits into what is left.
bool has_room(const RailLoad& rail, std::uint64_t bytes) noexcept;

/// Decides over which rail a slice goes. Pure: no state, no clock, the same answer for the same
/// arguments; shared freely.
class SchedulePolicy {
 public:
  virtual ~SchedulePolicy() = default;
  virtual std::string_view name() const noexcept = 0;
  /// The rail for the slice, or nothing: wait until a window has room or a rail gets ready.
  virtual std::optional<std::size_t> choose(const SliceFacts& slice,
                                            std::span<const RailLoad> rails) const noexcept = 0;
  /// For rails that pull: whether rail `self` may take the slice now.
  virtual bool may_take(std::size_t self, const SliceFacts& slice,
                        std::span<const RailLoad> rails) const noexcept = 0;
};

/// What rails do that take the next slice whenever they have room: it needs nobody who deals.
inline constexpr std::string_view kLeastLoaded = "least_loaded";

/// `least_loaded`: any ready rail with room, the emptiest first. `round_robin`: ready rails in
/// turn, whatever their load; for comparison. `locality`: as least_loaded among the rails near the
/// chunk's NUMA node, and others only while all near ones are full. Fails with kUnknownName,
/// listing what exists.
Result<std::shared_ptr<const SchedulePolicy>> make_schedule(std::string_view name);

}  // namespace corail
