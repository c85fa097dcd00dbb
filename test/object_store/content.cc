#include "test/object_store/content.h"

#include <algorithm>
#include <cstring>

#include "engine/base/checksum.h"

namespace corail::test {

namespace {

std::uint64_t word_at(std::uint64_t seed, std::uint64_t at) { return mix64(mix64(seed + 1) ^ at); }

}  // namespace

std::vector<std::byte> content_of(std::uint64_t seed, std::uint64_t size) {
  std::vector<std::byte> bytes(size);
  for (std::uint64_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(seed, at);
    std::memcpy(bytes.data() + at, &word, std::min<std::uint64_t>(sizeof word, size - at));
  }
  return bytes;
}

bool is_content(std::span<const std::byte> bytes, std::uint64_t seed, std::uint64_t size) {
  if (bytes.size() != size) return false;
  for (std::uint64_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = word_at(seed, at);
    const std::uint64_t length = std::min<std::uint64_t>(sizeof word, size - at);
    if (std::memcmp(bytes.data() + at, &word, length) != 0) return false;
  }
  return true;
}

}  // namespace corail::test
