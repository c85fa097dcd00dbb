#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/base/result.h"
#include "engine/store/object_medium.h"
#include "engine/store/object_store_types.h"

namespace corail::detail {

/// Bounds and sizes of a put, which may come from a peer (I5): kInvalidArgument, kTooLarge.
Result<void> check_put(const PutRequest& request);

/// What the manifest of an object takes in memory, in bytes, without its nodes. Sizes as
/// check_put() passes them.
std::uint64_t memory_of(std::uint64_t size, std::uint64_t stripe_size) noexcept;
inline std::uint64_t memory_of(const ObjectDescriptor& object) noexcept {
  return memory_of(object.size, object.stripe_size);
}
inline std::uint64_t memory_of(const StripingInfo& info) noexcept { return memory_of(info.object); }

/// A put that has begun: which granules have been written, and what they hash to. Owned by the
/// store, executor only; kept alive by the operations that use it.
class OpenPut {
 public:
  /// `request` as check_put() passes it.
  OpenPut(const PutRequest& request, ObjectGeneration generation, const ObjectNode& self,
          std::uint32_t devices, std::shared_ptr<StripeSet> stripes);

  std::uint64_t size() const noexcept { return size_; }  // bytes
  std::uint64_t manifest_memory() const noexcept { return manifest_memory_; }

  // Also after finish(): a put that is being installed must be found by both.
  const std::string& key() const noexcept { return key_; }
  ObjectGeneration generation() const noexcept { return generation_; }
  StripeSet& stripes() noexcept { return *stripes_; }
  std::shared_ptr<StripeSet> shared_stripes() const noexcept { return stripes_; }

  /// Whether these bytes of a stripe may be written: whole granules (the stripe's last may be
  /// short), inside the stripe, none of them written or being written. They are claimed then.
  Result<void> claim(std::uint32_t stripe, std::uint64_t offset, std::uint64_t length);
  /// What was claimed has been written.
  void written(std::uint32_t stripe, std::uint64_t offset, std::span<const Checksum64> hashes);
  /// Why the put cannot be committed as far as it is known here: bytes are missing or being
  /// written, or a write has failed.
  Result<void> check_complete() const;
  /// The manifest, once it is complete.
  StripingInfo finish();

  const std::optional<ObjectGeneration> if_generation;
  std::uint32_t writing = 0;    // writes that run
  bool committing = false;      // neither a write nor an abort is taken any more
  bool ended = false;           // aborted: the last write that runs removes the bytes
  bool superseded = false;      // a put that began later was committed
  std::optional<Error> broken;  // the first write that failed
  TimePoint expires{};
  std::unique_ptr<Timer> timer;

 private:
  std::size_t first_granule(std::uint32_t stripe, std::uint64_t offset) const;

  const std::string key_;
  const ObjectGeneration generation_;
  const std::uint64_t size_;
  const std::uint64_t manifest_memory_;
  StripingInfo info_;
  std::shared_ptr<StripeSet> stripes_;
  std::vector<bool> claimed_;  // by granule of the object
  std::uint64_t missing_;      // granules that have not been written
};

}  // namespace corail::detail
