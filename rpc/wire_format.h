#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "rpc/little_endian.h"

namespace corail {

/// Protobuf's wire format by hand, for two purposes: the messages of a query, which generated code
/// would copy string by string, and counting the elements of hostile messages before generated
/// code allocates them (I5, I8).
enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Walks the fields of one message. Never reads outside the given bytes, never allocates.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> message)
      : at_(message.data()), end_(message.data() + message.size()) {}

  /// Steps to the next field. False at the end and at the first malformed byte: ask ok().
  bool next() noexcept;
  bool ok() const noexcept { return ok_; }

  std::uint32_t field() const noexcept { return field_; }
  WireType type() const noexcept { return type_; }
  bool is(WireType type) const noexcept { return type_ == type; }
  /// The number of a varint or fixed field.
  std::uint64_t number() const noexcept { return number_; }
  /// The contents of a kBytes field: string, message or packed array.
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  /// Bytes of the whole field, its tag included.
  std::size_t field_bytes() const noexcept { return field_bytes_; }

 private:
  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
  std::uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  std::uint64_t number_ = 0;
  std::span<const std::byte> bytes_;
  std::size_t field_bytes_ = 0;
};

/// Reads a varint and moves `at` behind it. False when it does not end before `end` or has more
/// than 64 bits.
inline bool read_varint(const std::byte*& at, const std::byte* end, std::uint64_t& value) noexcept {
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 64 && at != end; shift += 7) {
    const auto byte = std::to_integer<std::uint64_t>(*at++);
    if (shift == 63 && byte > 1) return false;
    result |= (byte & 0x7F) << shift;
    if (byte < 0x80) {
      value = result;
      return true;
    }
  }
  return false;
}

constexpr std::size_t varint_bytes(std::uint64_t value) noexcept {
  // 9/64 is near enough to 1/7 for all bit widths up to 64.
  return (static_cast<std::size_t>(std::bit_width(value | 1)) * 9 + 64) / 64;
}

constexpr std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) noexcept {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

/// Writes fields into a buffer whose size the caller has computed with the functions above.
class WireWriter {
 public:
  explicit WireWriter(std::span<std::byte> to) : at_(to.data()), end_(to.data() + to.size()) {}

  void varint(std::uint64_t value) noexcept {
    while (value >= 0x80) {
      *at_++ = static_cast<std::byte>(value | 0x80);
      value >>= 7;
    }
    *at_++ = static_cast<std::byte>(value);
  }
  void tag(std::uint32_t field, WireType type) noexcept {
    varint(field << 3 | static_cast<std::uint32_t>(type));
  }
  void fixed64(std::uint64_t value) noexcept {
    store_little_endian(at_, value);
    at_ += sizeof value;
  }
  void raw(const void* data, std::size_t size) noexcept {
    if (size != 0) std::memcpy(at_, data, size);
    at_ += size;
  }

  /// Whether exactly the computed size was written.
  bool full() const noexcept { return at_ == end_; }

 private:
  std::byte* at_;
  std::byte* end_;
};

}  // namespace corail
