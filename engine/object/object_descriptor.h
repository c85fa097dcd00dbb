#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/strong_id.h"
#include "engine/base/units.h"

namespace corail {

/// The unit of an object's checksums, in bytes: slices are multiples of it, so that what arrives in
/// any order, and a range of an object, can be verified.
inline constexpr std::uint64_t kGranuleBytes = 256 * kKiB;

/// One more with each put of a key, never used again; at least 1.
using ObjectGeneration = StrongId<struct ObjectGenerationTag, std::uint64_t>;
/// No put ever gets as far; whatever says so is wrong, and the next one can always be counted (I5).
inline constexpr std::uint64_t kMaxObjectGeneration = (std::uint64_t{1} << 63U) - 1;

/// A node that owns stripes of an object.
struct ObjectNode {
  NodeId id;
  std::vector<std::string> addresses;  // HOST:PORT of its control connection, the best first

  friend bool operator==(const ObjectNode&, const ObjectNode&) = default;
};

/// One stripe: where it lies and what it must hash to.
struct ObjectChunk {
  std::uint32_t node = 0;    // index in ObjectDescriptor::nodes
  std::uint32_t device = 0;  // of that node, from 0. Informs only
  /// Bytes, of the stripe on its device. Informs only, and is never used as an offset in a file:
  /// where a stripe begins in the object follows from its index.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  // bytes: the stripe size, and less for the last
  Checksum64 checksum;       // stripe_checksum(), made of the xxh3-64 of its granules

  friend bool operator==(const ObjectChunk&, const ObjectChunk&) = default;
};

/// What a reader has to know of one generation of an object: stripe i, which is chunk i, holds the
/// bytes from i x stripe_size on. An empty object has no chunk. A value; one that came from a peer
/// is hostile until check_descriptor() has passed it (I5).
struct ObjectDescriptor {
  std::string key;
  std::uint64_t size = 0;  // bytes
  ObjectGeneration generation;
  std::uint64_t stripe_size = 0;  // bytes, a multiple of kGranuleBytes
  std::vector<ObjectNode> nodes;
  std::vector<ObjectChunk> chunks;

  friend bool operator==(const ObjectDescriptor&, const ObjectDescriptor&) = default;
};

}  // namespace corail
