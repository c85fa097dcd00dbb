#include "test/support/pattern.h"

#include "engine/base/checksum.h"

namespace corail::test {
namespace {

std::uint64_t word_at(std::uint64_t seed, std::uint64_t position) noexcept {
  return mix64(mix64(seed) + position / 8 * 0x9E3779B97F4A7C15ULL);
}

std::byte byte_of(std::uint64_t word, std::uint64_t position) noexcept {
  return static_cast<std::byte>(word >> (position % 8 * 8));
}

}  // namespace

std::byte pattern_at(std::uint64_t seed, std::uint64_t position) noexcept {
  return byte_of(word_at(seed, position), position);
}

void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed, std::uint64_t first) noexcept {
  std::uint64_t word = word_at(seed, first);
  for (std::uint64_t i = 0; i < bytes.size(); ++i) {
    const std::uint64_t position = first + i;
    if (position % 8 == 0) word = word_at(seed, position);
    bytes[i] = byte_of(word, position);
  }
}

std::optional<std::uint64_t> first_difference(std::span<const std::byte> bytes, std::uint64_t seed,
                                              std::uint64_t first) noexcept {
  std::uint64_t word = word_at(seed, first);
  for (std::uint64_t i = 0; i < bytes.size(); ++i) {
    const std::uint64_t position = first + i;
    if (position % 8 == 0) word = word_at(seed, position);
    if (bytes[i] != byte_of(word, position)) return i;
  }
  return std::nullopt;
}

}  // namespace corail::test
