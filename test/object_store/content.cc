#include "test/object_store/content.h"

#include <algorithm>
#include <cstring>

#include "engine/base/checksum.h"

namespace corail::test {

std::vector<std::byte> content_of(std::uint64_t seed, std::uint64_t size) {
  std::vector<std::byte> bytes(size);
  for (std::uint64_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = mix64(mix64(seed + 1) ^ at);
    std::memcpy(bytes.data() + at, &word, std::min<std::uint64_t>(sizeof word, size - at));
  }
  return bytes;
}

}  // namespace corail::test
