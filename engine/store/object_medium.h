#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/pin.h"
#include "engine/object/object_descriptor.h"
#include "engine/object/striping_info.h"

namespace corail {

/// A stripe in memory that peers may read.
struct StripeMemory {
  std::uint32_t index = 0;  // in the object
  RegionId region;
  std::uint64_t region_offset = 0;  // bytes, from the region's base
  PinnedBytes bytes;                // immutable once the object is committed

  /// Of its first byte, as a StripeSource tells it.
  std::uint64_t address() const noexcept {
    return reinterpret_cast<std::uint64_t>(bytes.bytes.data());
  }
};

/// The bytes of one generation of an object, on whatever a store keeps them. Offsets and lengths in
/// bytes, within the stripe; both checked by the caller. Used on the store's executor; calls for
/// different ranges may overlap in time. Failures are kStoreFull, kStoreFailed, kOutOfMemory and
/// kStripeLost.
class StripeSet {
 public:
  virtual ~StripeSet() = default;

  /// `bytes` must live until this returns. Nothing is durable before sync().
  virtual Task<Result<void>> write(std::uint32_t stripe, std::uint64_t offset,
                                   std::span<const std::byte> bytes) = 0;
  /// Fills `into`, which must live until this returns, or fails.
  virtual Task<Result<void>> read(std::uint32_t stripe, std::uint64_t offset,
                                  std::span<std::byte> into) = 0;
  /// All that was written survives a crash once this succeeded. After a failure nothing is certain,
  /// also if it is called again.
  virtual Task<Result<void>> sync() = 0;
  /// Forgets the bytes. Nothing else is called then. What cannot be removed is debris, which the
  /// next start removes.
  virtual Task<void> remove() = 0;
  /// Where a stripe is, for people.
  virtual std::string where(std::uint32_t stripe) const = 0;

  /// Whether peers may read the stripes in this process's memory. If so, memory() says where.
  virtual bool in_memory() const noexcept { return false; }
  virtual StripeMemory memory(std::uint32_t /*stripe*/) const { return {}; }
};

/// What a store found on its medium.
struct RecoveredObject {
  StripingInfo info;
  std::shared_ptr<StripeSet> stripes;
};
struct Recovered {
  std::vector<RecoveredObject> objects;  // each key once
  std::uint64_t unused_generation = 1;   // this and later ones were never used
  std::size_t removed_files = 0;
  std::vector<Error> refused;
};

/// Where a store keeps its objects: memory, or directories. Owned and used by one ObjectStore, on
/// its executor. Calls about manifests and generations come one at a time.
class ObjectMedium {
 public:
  virtual ~ObjectMedium() = default;

  /// Devices that stripes go round robin over, at least 1.
  virtual std::uint32_t devices() const noexcept = 0;

  /// Finds every complete object and removes debris. Once, before anything else.
  virtual Task<Result<Recovered>> recover() = 0;

  /// Generations below `bound` may be used once this succeeded: a later recover() gives none of
  /// them again.
  virtual Task<Result<void>> reserve_generations(std::uint64_t bound) = 0;

  /// Room for the bytes of a put, empty as yet.
  virtual Task<Result<std::shared_ptr<StripeSet>>> create(ObjectGeneration generation,
                                                          std::uint64_t size,
                                                          std::uint64_t stripe_size) = 0;
  /// The stripes of a generation were synced. Writes its manifest, which nobody finds yet: after a
  /// failure everything is as before.
  virtual Task<Result<void>> write_manifest(const StripingInfo& info) = 0;
  /// The manifest that was written last, of this key, becomes the one that is found, in place of
  /// the key's earlier one. After a failure a later recover() may find either.
  virtual Task<Result<void>> install_manifest(const std::string& key) = 0;
  /// The key has no manifest any more. After a failure a later recover() may find it, or not.
  virtual Task<Result<void>> withdraw(const std::string& key) = 0;
};

}  // namespace corail
