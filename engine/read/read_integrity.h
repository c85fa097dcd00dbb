#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"

namespace corail {

/// Hashes what lands through one rail while the bytes are in the cache.
///
/// Owned by the rail's share of the read, used on the rail's thread until the join, then by the
/// joining thread. The memory that it reads must stay pinned until then (I6). Nothing to cancel: a
/// read that ends otherwise just drops it.
class LandingVerifier {
 public:
  virtual ~LandingVerifier() = default;

  /// Bytes [from, to) of the plan's linear space have landed: within a slice in ascending order,
  /// slices in any order. A piece is hashed when its last byte lands; one that is cut between two
  /// slices is left for the join unless they land one after the other.
  virtual void landed(std::uint64_t from, std::uint64_t to) = 0;

  /// What landed of the slice [from, to) is void, and all of it will land again, through any rail.
  /// The slice must be quiescent. Hashes what it takes back once more: rare.
  virtual void restart(std::uint64_t from, std::uint64_t to) = 0;
};

/// What a read's bytes must hash to. Immutable; lives as long as the read.
class ReadIntegrity {
 public:
  virtual ~ReadIntegrity() = default;

  /// For one rail. `chunk_bases` by index in the plan's chunks().
  virtual std::unique_ptr<LandingVerifier> make_verifier(
      std::vector<std::byte*> chunk_bases) const = 0;

  /// Adds up what the verifiers have found, which it has made and which have seen every byte land,
  /// and compares. `rails` are the names of their rails, in the same order. Sets `verified_bytes`,
  /// which are all of the plan's unless it fails with kChecksumMismatch, saying what is wrong and
  /// where to look. Once only, and at least one verifier.
  virtual Result<void> join(std::span<LandingVerifier* const> verifiers,
                            std::span<const std::string> rails,
                            std::uint64_t& verified_bytes) const = 0;
};

}  // namespace corail
