#include "engine/plan/run_extent.h"

#include "engine/base/units.h"

namespace corail {

std::string_view check_extent(std::uint64_t base, std::int64_t stride, std::uint32_t count,
                              std::uint64_t bytes) noexcept {
  if (!checked_add(base, bytes)) return "ends past 2^64";
  if (count == 1) return {};
  const std::uint64_t step = stride_magnitude(stride);
  if (step < bytes) return "overlaps itself: its stride is less than a segment";
  const auto extent = checked_mul(step, count - 1);
  if (!extent) return "spans more than 2^64 bytes";
  if (stride < 0) return *extent > base ? "starts below address 0" : std::string_view{};
  const auto last = checked_add(base, *extent);
  if (!last || !checked_add(*last, bytes)) return "ends past 2^64";
  return {};
}

}  // namespace corail
