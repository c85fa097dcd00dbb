#include "engine/base/checksum.h"

#include <xxhash.h>

#include <cstring>
#include <string>

namespace corail {

std::uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t xxh3_64(std::string_view bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t block_identity(std::string_view name_space, std::string_view hash,
                             std::uint64_t layout_id) noexcept {
  // Chained rather than concatenated: no allocation, and the lengths keep the parts apart.
  const std::uint64_t head[3] = {xxh3_64(name_space), xxh3_64(hash), layout_id};
  const std::uint64_t sizes[2] = {name_space.size(), hash.size()};
  std::uint64_t words[5];
  std::memcpy(words, head, sizeof head);
  std::memcpy(words + 3, sizes, sizeof sizes);
  return XXH3_64bits(words, sizeof words);
}

}  // namespace corail
