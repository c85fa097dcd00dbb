#include "apps/p2p_bench/content.h"

#include <cstring>

#include "engine/base/checksum.h"

namespace corail::bench {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ULL;
constexpr std::uint64_t kSpread = 0xD6E8FEB86659FD93ULL;

std::uint64_t start_of(const CellId& cell) noexcept {
  std::uint64_t start = mix64(cell.seed + kStep);
  start = mix64(start + cell.set * kStep + 1);
  start = mix64(start + cell.block * kStep + 2);
  return mix64(start + cell.lane * kStep + 3);
}

/// A counter from a mixed start. The counter alone would repeat its lowest byte every 256 words, so
/// its upper half is folded down and spread; one multiplication a word keeps it faster than memory.
std::uint64_t word_at(std::uint64_t start, std::uint64_t index) noexcept {
  const std::uint64_t counter = start + index * kStep;
  return (counter ^ (counter >> 32)) * kSpread;
}

std::uint64_t count_nonzero_bytes(std::uint64_t difference) noexcept {
  std::uint64_t count = 0;
  for (; difference != 0; difference >>= 8) count += (difference & 0xFF) != 0 ? 1 : 0;
  return count;
}

}  // namespace

void fill_content(std::span<std::byte> segment, const CellId& cell) noexcept {
  const std::uint64_t start = start_of(cell);
  const std::size_t words = segment.size() / kWord;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t word = word_at(start, i);
    std::memcpy(segment.data() + i * kWord, &word, kWord);
  }
  const std::span<std::byte> tail = segment.subspan(words * kWord);
  const std::uint64_t word = word_at(start, words);
  if (!tail.empty()) std::memcpy(tail.data(), &word, tail.size());
}

std::uint64_t count_mismatches(std::span<const std::byte> segment, const CellId& cell) noexcept {
  const std::uint64_t start = start_of(cell);
  const std::size_t words = segment.size() / kWord;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < words; ++i) {
    std::uint64_t found = 0;
    std::memcpy(&found, segment.data() + i * kWord, kWord);
    const std::uint64_t difference = found ^ word_at(start, i);
    if (difference != 0) wrong += count_nonzero_bytes(difference);
  }
  const std::span<const std::byte> tail = segment.subspan(words * kWord);
  const std::uint64_t expected = word_at(start, words);
  std::uint64_t found = expected;
  if (!tail.empty()) std::memcpy(&found, tail.data(), tail.size());
  return wrong + count_nonzero_bytes(found ^ expected);
}

}  // namespace corail::bench
