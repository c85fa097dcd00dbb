#include "test/support/pattern.h"

#include <cstring>

#include "engine/base/checksum.h"

namespace corail::test {
namespace {

std::uint64_t word_at(std::uint64_t seed, std::uint64_t position) noexcept {
  return mix64(mix64(seed) + position / 8 * 0x9E3779B97F4A7C15ULL);
}

// Little-endian, like every machine this runs on: byte i of the word in memory is its i-th.
std::byte byte_of(std::uint64_t word, std::uint64_t position) noexcept {
  return static_cast<std::byte>(word >> (position % 8 * 8));
}

}  // namespace

std::byte pattern_at(std::uint64_t seed, std::uint64_t position) noexcept {
  return byte_of(word_at(seed, position), position);
}

void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed, std::uint64_t first) noexcept {
  std::uint64_t i = 0;
  while (i < bytes.size()) {
    const std::uint64_t word = word_at(seed, first + i);
    if ((first + i) % 8 == 0 && i + 8 <= bytes.size()) {
      std::memcpy(bytes.data() + i, &word, 8);
      i += 8;
    } else {
      bytes[i] = byte_of(word, first + i);
      ++i;
    }
  }
}

std::optional<std::uint64_t> first_difference(std::span<const std::byte> bytes, std::uint64_t seed,
                                              std::uint64_t first) noexcept {
  std::uint64_t i = 0;
  while (i < bytes.size()) {
    const std::uint64_t word = word_at(seed, first + i);
    const bool whole = (first + i) % 8 == 0 && i + 8 <= bytes.size();
    if (whole && std::memcmp(bytes.data() + i, &word, 8) == 0) {
      i += 8;
      continue;
    }
    if (bytes[i] != byte_of(word, first + i)) return i;
    ++i;
  }
  return std::nullopt;
}

std::uint64_t differences(std::span<const std::byte> bytes, std::uint64_t seed,
                          std::uint64_t first) noexcept {
  std::uint64_t count = 0;
  std::uint64_t from = 0;
  while (const auto at = first_difference(bytes.subspan(from), seed, first + from)) {
    ++count;
    from += *at + 1;
  }
  return count;
}

}  // namespace corail::test
