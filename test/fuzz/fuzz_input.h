#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace corail::fuzz {

/// Makes numbers of a fuzzer's bytes; zeros when there are no more. A value.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size)
      : bytes_(reinterpret_cast<const std::byte*>(data), size) {}

  template <typename T>
  T number() {
    T value{};
    const std::size_t count = bytes_.size() < sizeof(T) ? bytes_.size() : sizeof(T);
    if (count > 0) std::memcpy(&value, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return value;
  }

  /// 0 to most - 1.
  std::uint32_t below(std::uint32_t most) { return number<std::uint8_t>() % most; }

  bool empty() const noexcept { return bytes_.empty(); }
  std::span<const std::byte> rest() const noexcept { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace corail::fuzz
