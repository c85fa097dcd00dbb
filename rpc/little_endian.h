#pragma once

#include <bit>
#include <cstddef>
#include <cstring>

namespace corail {

static_assert(std::endian::native == std::endian::little,
              "the wire is little-endian, and so must be the machine");

/// Stores an integer in the wire's byte order; `to` has room for it.
template <typename T>
void store_little_endian(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
T load_little_endian(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace corail
