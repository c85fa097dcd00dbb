#include "test/sim/objects/content.h"

#include <cstring>

namespace corail::sim {
namespace {

constexpr std::uint64_t kWord = sizeof(std::uint64_t);
constexpr unsigned kPutShift = 32;
/// Neither zeros nor small numbers are content.
constexpr std::uint64_t kSalt = 0xA5C3'5A3C'96E7'1B2D;

std::uint64_t word_of(PutNumber put, std::uint64_t index) noexcept {
  return ((std::uint64_t{put} << kPutShift) | index) ^ kSalt;
}

std::byte byte_at(PutNumber put, std::uint64_t offset) noexcept {
  return static_cast<std::byte>(word_of(put, offset / kWord) >> (offset % kWord * 8));
}

std::uint64_t load(std::span<const std::byte> bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), kWord);
  return word;
}

}  // namespace

void fill_content(std::span<std::byte> bytes, PutNumber put, std::uint64_t offset) noexcept {
  for (std::size_t i = 0; i < bytes.size();) {
    if ((offset + i) % kWord == 0 && bytes.size() - i >= kWord) {
      const std::uint64_t word = word_of(put, (offset + i) / kWord);
      std::memcpy(bytes.data() + i, &word, kWord);
      i += kWord;
    } else {
      bytes[i] = byte_at(put, offset + i);
      ++i;
    }
  }
}

std::optional<std::uint64_t> first_wrong(std::span<const std::byte> bytes, PutNumber put,
                                         std::uint64_t offset) noexcept {
  for (std::size_t i = 0; i < bytes.size();) {
    const bool whole = (offset + i) % kWord == 0 && bytes.size() - i >= kWord;
    if (whole && load(bytes.subspan(i)) == word_of(put, (offset + i) / kWord)) {
      i += kWord;
      continue;
    }
    if (bytes[i] != byte_at(put, offset + i)) return i;
    ++i;
  }
  return std::nullopt;
}

std::optional<Origin> origin_of(std::span<const std::byte> bytes, PutNumber most) noexcept {
  for (std::uint64_t skip = 0; skip < kWord; ++skip) {
    const std::uint64_t word = load(bytes.subspan(skip)) ^ kSalt;
    const std::uint64_t put = word >> kPutShift;
    const std::uint64_t index = word & 0xFFFF'FFFF;
    if (put == 0 || put > most || index * kWord < skip) continue;
    const Origin origin{static_cast<PutNumber>(put), index * kWord - skip};
    if (!first_wrong(bytes.first(kTellingBytes), origin.put, origin.offset)) return origin;
  }
  return std::nullopt;
}

}  // namespace corail::sim
