#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace corail::sim {

/// What objects consist of: words that name the put that wrote them and where in it they lie, so
/// that any piece of an object, wherever it is seen, says whose it is. Puts count from 1.
using PutNumber = std::uint32_t;

/// bytes[i] is what belongs at `offset` + i of the put's object.
void fill_content(std::span<std::byte> bytes, PutNumber put, std::uint64_t offset) noexcept;

/// The smallest i whose byte is not what belongs at `offset` + i, or nothing.
std::optional<std::uint64_t> first_wrong(std::span<const std::byte> bytes, PutNumber put,
                                         std::uint64_t offset) noexcept;

struct Origin {
  PutNumber put = 0;
  std::uint64_t offset = 0;  // of the first byte, in the object
};

/// Fewer bytes do not say where they are from.
inline constexpr std::size_t kTellingBytes = 24;

/// Whose bytes these are, kTellingBytes or more, by the first of them; nothing where they are of
/// none of the puts up to `most`.
std::optional<Origin> origin_of(std::span<const std::byte> bytes, PutNumber most) noexcept;

}  // namespace corail::sim
