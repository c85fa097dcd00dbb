#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace corail::test {

/// Bytes that are a function of the seed and of where they lie: neither a shift nor a mixture of
/// two contents passes for one.
std::vector<std::byte> content_of(std::uint64_t seed, std::uint64_t size);

/// Whether `bytes` are content_of(seed, size).
bool is_content(std::span<const std::byte> bytes, std::uint64_t seed, std::uint64_t size);

}  // namespace corail::test
