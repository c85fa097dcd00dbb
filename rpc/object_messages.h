#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/object/object_descriptor.h"
#include "engine/rail/push.h"
#include "engine/store/object_store_types.h"

namespace corail {

/// The messages about objects in the engine's words; proto/corail/v1/objects.proto has their
/// fields, units and trust. What object_codec.h decodes has been range-checked field by field.

/// Entries of one answer to ListObjects, at most.
inline constexpr std::uint32_t kMaxListedObjects = 1024;
/// What an owner's times are cut to: longer ones are no measurements.
inline constexpr Duration kMaxPushTime = std::chrono::hours(24);

struct OpenObjectRequest {
  ReadId read;
  std::string key;
  ObjectGeneration generation;
  bool snapshot = false;  // the leased generation may be confirmed after it was superseded
  Duration ttl{};         // 0: the owner's default
  bool want_addresses = false;
  /// Stripes of the owner's whose granules' checksums are wanted, ascending.
  std::vector<std::uint32_t> granules_of;
};

struct OpenObjectAnswer {
  Duration ttl{};
  bool in_memory = false;
  std::vector<std::uint64_t> addresses;  // of each of the owner's stripes, or of none
  TableGeneration regions;               // of the owner's table when it answered
  std::uint64_t most_pushed = 0;         // bytes that one order may be for
  std::vector<std::uint64_t> granules;   // of the stripes that were asked for, one after the other
};

struct ListObjectsRequest {
  /// A constructor, because GCC 12 destroys braced aggregates twice in a co_await expression.
  ListObjectsRequest() {}

  std::string prefix;                      // of the keys
  std::string after;                       // only greater keys; empty: from the first on
  std::uint32_t most = kMaxListedObjects;  // 1 to as many
};

struct DeleteObjectRequest {
  std::string key;
  std::optional<ObjectGeneration> if_generation;
};

struct ReadStripesRequest {
  std::uint32_t door = 0;
  PushOrder order;
};

}  // namespace corail
