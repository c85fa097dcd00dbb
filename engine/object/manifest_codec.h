#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/object/striping_info.h"

namespace corail {

/// Bytes of an encoded manifest, at most (I8).
inline constexpr std::uint64_t kMaxManifestBytes = 48 * kMiB;

/// What each directory of a store says of itself, so that directories of another store, or in
/// another order, are not taken for its own.
struct StoreHead {
  std::uint64_t store = 0;    // random, the same in all directories of the store
  std::uint32_t device = 0;   // which of them this is, from 0
  std::uint32_t devices = 0;  // how many there are
  /// Generations from here on have never been given to a put. Only the first directory's counts.
  std::uint64_t unused_generation = 1;

  friend bool operator==(const StoreHead&, const StoreHead&) = default;
};

/// How a store's own records look as bytes. An argument of the store, so that the engine knows no
/// Protobuf. Pure functions; any thread; must outlive the store.
class ManifestCodec {
 public:
  virtual ~ManifestCodec() = default;

  /// `info` as check_striping() passes it.
  virtual std::vector<std::byte> encode(const StripingInfo& info) const = 0;
  /// Whatever was changed of an encoded manifest, the result is either the same manifest or
  /// kBadManifest, which says what is wrong. Checks everything that check_striping() does (I5).
  virtual Result<StripingInfo> decode(std::span<const std::byte> bytes) const = 0;

  virtual std::vector<std::byte> encode_head(const StoreHead& head) const = 0;
  /// As decode().
  virtual Result<StoreHead> decode_head(std::span<const std::byte> bytes) const = 0;
};

}  // namespace corail
