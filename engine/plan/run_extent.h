#pragma once

#include <cstdint>
#include <string_view>

namespace corail {

/// |stride|, of INT64_MIN too.
constexpr std::uint64_t stride_magnitude(std::int64_t stride) noexcept {
  const auto bits = static_cast<std::uint64_t>(stride);
  return stride < 0 ? ~bits + 1 : bits;
}

/// Whether `count` pieces of `bytes` bytes (both at least 1) at base, base + stride, ... lie below
/// 2^64 to the end of the last one, and do not overlap each other (I5). Returns what is wrong, to
/// follow "the run ", or nothing.
std::string_view check_extent(std::uint64_t base, std::int64_t stride, std::uint32_t count,
                              std::uint64_t bytes) noexcept;

}  // namespace corail
