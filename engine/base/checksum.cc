#include "engine/base/checksum.h"

#include <xxhash.h>

#include <bit>

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
  const std::uint64_t words[5] = {xxh3_64(name_space), xxh3_64(hash), layout_id, name_space.size(),
                                  hash.size()};
  static_assert(std::endian::native == std::endian::little, "the words are hashed as they lie");
  return XXH3_64bits(words, sizeof words);
}

}  // namespace corail
