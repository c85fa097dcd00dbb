#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/object/object_descriptor.h"

namespace corail {

/// What a descriptor may at most hold (I8). Sizes in bytes. With the largest stripes an object may
/// have 64 TiB, with stripes of 4 MiB 256 GiB.
inline constexpr std::uint64_t kMaxStripeBytes = kGiB;
inline constexpr std::size_t kMaxObjectStripes = 65'536;
inline constexpr std::size_t kMaxObjectNodes = 1024;
inline constexpr std::size_t kMaxNodeAddresses = 16;
inline constexpr std::size_t kMaxObjectKeyBytes = 1024;
inline constexpr std::size_t kMaxNodeAddressBytes = 256;

/// Stripes of `stripe_size` bytes, more than 0, that an object of `size` bytes has.
constexpr std::uint64_t stripes_of(std::uint64_t size, std::uint64_t stripe_size) noexcept {
  return size / stripe_size + (size % stripe_size != 0 ? 1 : 0);
}

/// Checks all that is used of a descriptor from a peer (I5): bounds, the stripe size, that the
/// stripes are as many and as long as the object's size says, that each has a node, that no node is
/// there twice. Devices and offsets are not checked, because nothing is done with them. Linear in
/// nodes and stripes. Fails with kProtocol, saying which value is wrong and what it should be.
Result<void> check_descriptor(const ObjectDescriptor& object);

}  // namespace corail
