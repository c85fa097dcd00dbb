#pragma once

#include <cstdint>

#include "engine/base/ids.h"
#include "engine/object/object_descriptor.h"
#include "engine/store/object_store_types.h"

namespace corail {

/// The messages of puts in the engine's words; proto/corail/v1/puts.proto has their fields, units
/// and trust. What put_codec.h decodes has been range-checked field by field.

/// Pulls of a put's stripes have read ids of their own: from here on. The writer chooses them, at
/// random, so that nobody but the home that was told one can read what it is for; the ids that a
/// requester counts stay below.
inline constexpr std::uint64_t kFirstPutRead = std::uint64_t{1} << 63;

constexpr bool is_put_read(ReadId read) noexcept { return read.value() >= kFirstPutRead; }

/// One stripe of a put, where its writer has it.
struct PutStripeRequest {
  ObjectGeneration put;
  std::uint32_t stripe = 0;
  ReadId read;
  TableGeneration regions;    // the writer's table that has the memory
  std::uint64_t address = 0;  // in the writer's memory, in one piece
  Checksum64 checksum;        // stripe_checksum()
};

}  // namespace corail
