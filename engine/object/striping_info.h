#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/object/object_descriptor.h"

namespace corail {

/// Granules that an object may at most have (I8): 1 TiB, whose manifest is 32 MiB and a little.
inline constexpr std::uint64_t kMaxObjectGranules = 4'194'304;

/// The manifest of one generation of an object: what a store has to know to serve it and to find it
/// again. A value; one that was read from a disk is hostile until check_striping() has passed it
/// (I5).
struct StripingInfo {
  ObjectDescriptor object;
  /// Which of object.nodes the store that keeps this manifest is. The id and the addresses that the
  /// manifest has of it are those of the day of the put.
  std::uint32_t home = 0;
  /// xxh3-64 of each granule of each stripe, in order: with it a granule can be verified by itself.
  std::vector<Checksum64> granules;

  friend bool operator==(const StripingInfo&, const StripingInfo&) = default;
};

/// The granules of one stripe, which the object must have. A view into `info`.
std::span<const Checksum64> granules_of_stripe(const StripingInfo& info, std::uint32_t stripe);

/// xxh3-64 of each granule of what begins at a granule's border; the last one may be short.
std::vector<Checksum64> hash_granules(std::span<const std::byte> bytes);

/// The checksum that a stripe with these granules must have.
Checksum64 stripe_checksum_of(std::span<const Checksum64> granules, std::uint64_t length) noexcept;

/// 1 to kMaxObjectKeyBytes bytes of any value; else kInvalidArgument.
Result<void> check_object_key(std::string_view key);

/// Everything that check_descriptor() checks, and that the home is one of the nodes, that there are
/// as many granules as the stripes have, and that each stripe's checksum is made of them. Linear in
/// nodes and granules. Fails with kBadManifest, saying which value is wrong.
Result<void> check_striping(const StripingInfo& info);

}  // namespace corail
