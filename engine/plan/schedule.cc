#include "engine/plan/schedule.h"

#include <fmt/core.h>

#include <algorithm>

namespace corail {
namespace {

bool takes(const RailLoad& rail, std::uint64_t bytes) noexcept {
  return rail.ready && has_room(rail, bytes);
}

/// Whether `a` is emptier than `b`, by the share of the window that is in use. Products of
/// 128 bits: windows are ours, but nothing bounds them to 32 bits.
bool emptier(const RailLoad& a, const RailLoad& b) noexcept {
  __extension__ using Wide = unsigned __int128;
  return Wide{a.in_flight_bytes} * std::max<std::uint64_t>(b.window_bytes, 1) <
         Wide{b.in_flight_bytes} * std::max<std::uint64_t>(a.window_bytes, 1);
}

/// The emptiest rail with room among those that `wanted` accepts.
template <typename Wanted>
std::optional<std::size_t> emptiest(std::uint64_t bytes, std::span<const RailLoad> rails,
                                    Wanted wanted) noexcept {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    if (!takes(rails[i], bytes) || !wanted(rails[i])) continue;
    if (!best || emptier(rails[i], rails[*best])) best = i;
  }
  return best;
}

class LeastLoaded final : public SchedulePolicy {
 public:
  std::string_view name() const noexcept override { return kLeastLoaded; }
  std::optional<std::size_t> choose(const SliceFacts& slice,
                                    std::span<const RailLoad> rails) const noexcept override {
    return emptiest(slice.bytes, rails, [](const RailLoad&) { return true; });
  }
  bool may_take(std::size_t self, const SliceFacts& slice,
                std::span<const RailLoad> rails) const noexcept override {
    // A rail that pulls proves by pulling that it is the least loaded one.
    return takes(rails[self], slice.bytes);
  }
};

class RoundRobin final : public SchedulePolicy {
 public:
  std::string_view name() const noexcept override { return "round_robin"; }
  std::optional<std::size_t> choose(const SliceFacts& slice,
                                    std::span<const RailLoad> rails) const noexcept override {
    const auto ready = static_cast<std::uint64_t>(
        std::ranges::count_if(rails, [](const RailLoad& rail) { return rail.ready; }));
    if (ready == 0) return std::nullopt;
    std::uint64_t turn = slice.number % ready;
    for (std::size_t i = 0; i < rails.size(); ++i) {
      if (!rails[i].ready || turn-- != 0) continue;
      if (has_room(rails[i], slice.bytes)) return i;
      return std::nullopt;  // its turn: nobody else takes it
    }
    return std::nullopt;
  }
  bool may_take(std::size_t self, const SliceFacts& slice,
                std::span<const RailLoad> rails) const noexcept override {
    return choose(slice, rails) == self;
  }
};

class Locality final : public SchedulePolicy {
 public:
  std::string_view name() const noexcept override { return "locality"; }
  std::optional<std::size_t> choose(const SliceFacts& slice,
                                    std::span<const RailLoad> rails) const noexcept override {
    const auto near = emptiest(slice.bytes, rails, [&slice](const RailLoad& rail) {
      return rail.numa_node == slice.numa_node;
    });
    if (near) return near;
    return emptiest(slice.bytes, rails, [](const RailLoad&) { return true; });
  }
  bool may_take(std::size_t self, const SliceFacts& slice,
                std::span<const RailLoad> rails) const noexcept override {
    if (!takes(rails[self], slice.bytes)) return false;
    if (rails[self].numa_node == slice.numa_node) return true;
    return std::ranges::none_of(rails, [&slice](const RailLoad& rail) {
      return rail.numa_node == slice.numa_node && takes(rail, slice.bytes);
    });
  }
};

}  // namespace

bool has_room(const RailLoad& rail, std::uint64_t bytes) noexcept {
  if (rail.in_flight_bytes == 0) return true;
  return rail.in_flight_bytes <= rail.window_bytes &&
         bytes <= rail.window_bytes - rail.in_flight_bytes;
}

Result<std::shared_ptr<const SchedulePolicy>> make_schedule(std::string_view name) {
  using Made = std::shared_ptr<const SchedulePolicy>;
  if (name == kLeastLoaded) return Made(std::make_shared<LeastLoaded>());
  if (name == "round_robin") return Made(std::make_shared<RoundRobin>());
  if (name == "locality") return Made(std::make_shared<Locality>());
  return Error(
      Errc::kUnknownName,
      fmt::format("there is no schedule '{}'; choose least_loaded, round_robin or locality", name));
}

}  // namespace corail
