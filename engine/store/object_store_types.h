#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "engine/object/object_descriptor.h"
#include "engine/object/striping_info.h"
#include "engine/store/object_medium.h"

namespace corail {

struct ObjectStoreOptions {
  /// What manifests and descriptors say of this node: at least one address.
  ObjectNode self;
  std::size_t max_objects = 1'048'576;  // keys
  std::size_t max_open_puts = 1024;     // begun, neither committed nor aborted
  std::size_t max_leases = 65'536;
  Duration put_ttl = std::chrono::seconds(60);     // without a write, before an open put is aborted
  Duration lease_ttl = std::chrono::seconds(120);  // where none is asked for
  Duration max_lease_ttl = std::chrono::seconds(600);  // what may be asked for; more is capped
};

/// What is about to be put. Remote input (I5).
struct PutRequest {
  std::string key;
  std::uint64_t size = 0;                // bytes
  std::uint64_t stripe_size = 4 * kMiB;  // bytes, a multiple of kGranuleBytes
  /// Commit only while this is the key's generation; 0: only while there is no such key.
  std::optional<ObjectGeneration> if_generation;
};

/// An entry of a listing.
struct ObjectSummary {
  std::string key;
  std::uint64_t size = 0;  // bytes
  ObjectGeneration generation;
};

/// The promise to keep one generation of an object readable for `ttl` from now on.
struct ObjectLease {
  LeaseId id;
  Duration ttl{};
  std::shared_ptr<const StripingInfo> info;
};

/// Where the stripes of a leased generation lie that this store has.
struct ObjectPlaces {
  bool in_memory = false;             // else on directories, and peers cannot read them
  std::vector<StripeMemory> stripes;  // in order; of an object in memory
};

/// Whether what was read is held against its granules' checksums.
enum class ReadCheck { kNone, kVerify };

/// What a store found when it started.
struct RecoveryReport {
  std::size_t objects = 0;        // complete ones: all of them are served
  std::size_t removed_files = 0;  // debris of puts that were not committed
  /// Objects that are not served, and why. Their files are left alone.
  std::vector<Error> refused;
};

struct ObjectStoreStats {
  std::size_t objects = 0;
  std::size_t open_puts = 0;
  std::size_t leases = 0;
  std::uint64_t lapsed_leases = 0;
  std::size_t superseded = 0;  // generations that only leases and reads keep
};

}  // namespace corail
