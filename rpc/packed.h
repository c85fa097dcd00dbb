#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "rpc/wire_format.h"

namespace corail {

/// Arrays of numbers on the wire, straight into and out of the vectors of a run table. Unpacked
/// elements, which Protobuf allows as well, are taken one by one.

/// Appends at most `most - array.size()` numbers. False for more, for numbers that T does not hold,
/// and for malformed bytes. Signed types are zigzag-encoded.
template <typename T>
bool append_varints(const WireReader& field, std::size_t most, std::vector<T>& array) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto append = [&array](std::uint64_t value) {
    if (value > std::numeric_limits<Unsigned>::max()) return false;
    if constexpr (std::is_signed_v<T>) {
      array.push_back(static_cast<T>(unzigzag(value)));
    } else {
      array.push_back(static_cast<T>(value));
    }
    return true;
  };
  if (field.is(WireType::kVarint)) return array.size() < most && append(field.number());
  if (!field.is(WireType::kBytes)) return false;
  const std::span<const std::byte> bytes = field.bytes();
  const auto count = static_cast<std::size_t>(
      std::count_if(bytes.begin(), bytes.end(), [](std::byte b) { return b < std::byte{0x80}; }));
  if (count > most - array.size()) return false;
  // Never less than double: a hostile array comes in very many pieces.
  if (array.size() + count > array.capacity()) {
    array.reserve(std::max(array.size() + count, 2 * array.capacity()));
  }
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  while (at != end) {
    std::uint64_t value = 0;
    if (!read_varint(at, end, value) || !append(value)) return false;
  }
  return true;
}

inline bool append_fixed64(const WireReader& field, std::size_t most,
                           std::vector<std::uint64_t>& array) {
  if (field.is(WireType::kFixed64) && array.size() < most) {
    array.push_back(field.number());
    return true;
  }
  const std::size_t bytes = field.bytes().size();
  const std::size_t count = bytes / sizeof(std::uint64_t);
  if (!field.is(WireType::kBytes) || bytes % sizeof(std::uint64_t) != 0 ||
      count > most - array.size()) {
    return false;
  }
  if (count == 0) return true;
  const std::size_t before = array.size();
  array.resize(before + count);
  std::memcpy(array.data() + before, field.bytes().data(), bytes);
  return true;
}

/// One array as a field; nothing at all for an empty one, as Protobuf does.
template <typename T>
class PackedVarints {
 public:
  PackedVarints(std::uint32_t field, std::span<const T> values) : field_(field), values_(values) {
    for (const T value : values_) payload_ += varint_bytes(encoded(value));
  }
  std::size_t size() const noexcept {
    return values_.empty()
               ? 0
               : varint_bytes(std::uint64_t{field_} << 3) + varint_bytes(payload_) + payload_;
  }
  void write(WireWriter& writer) const noexcept {
    if (values_.empty()) return;
    writer.tag(field_, WireType::kBytes);
    writer.varint(payload_);
    for (const T value : values_) writer.varint(encoded(value));
  }

 private:
  static std::uint64_t encoded(T value) noexcept {
    if constexpr (std::is_signed_v<T>) {
      return zigzag(value);
    } else {
      return value;
    }
  }

  std::uint32_t field_;
  std::span<const T> values_;
  std::size_t payload_ = 0;
};

class PackedFixed64 {
 public:
  PackedFixed64(std::uint32_t field, std::span<const std::uint64_t> values)
      : field_(field), values_(values) {}
  std::size_t size() const noexcept {
    return values_.empty() ? 0 : 1 + varint_bytes(values_.size_bytes()) + values_.size_bytes();
  }
  void write(WireWriter& writer) const noexcept {
    if (values_.empty()) return;
    writer.tag(field_, WireType::kBytes);
    writer.varint(values_.size_bytes());
    writer.raw(values_.data(), values_.size_bytes());
  }

 private:
  std::uint32_t field_;
  std::span<const std::uint64_t> values_;
};

}  // namespace corail
