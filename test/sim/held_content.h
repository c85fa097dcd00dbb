#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"

namespace corail::sim {

/// A block of the simulation: which hash of which namespace.
using BlockNumber = std::uint32_t;

/// What a holder must have, in the model's own words: which bytes the saver wrote where, under
/// which hash, and which content of a hash was current when. Knows nothing of the store.
class HeldContent {
 public:
  explicit HeldContent(std::uint64_t salt) : salt_(salt) {}

  /// The seed of the pattern that a version of a block consists of.
  std::uint64_t pattern_seed(BlockNumber block, std::uint32_t version) const noexcept;

  /// A number for content that nobody saved before.
  std::uint32_t next_version() noexcept { return ++versions_; }

  /// Writes a segment's content, and remembers it: whatever was there before is gone.
  void write(std::span<std::byte> at, BlockNumber block, std::uint32_t version, std::uint32_t lane);
  /// From now on queries may find this version, whose lanes were all written.
  void saved(BlockNumber block, std::uint32_t version, TimePoint now);

  /// What is wrong with serving these bytes for a read of `asked`, in words.
  std::optional<std::string> complaint(std::span<const std::byte> served,
                                       const std::set<BlockNumber>& asked) const;

  /// Whether the segment is that of a version which a query between these times could have found.
  bool matches(std::span<const std::byte> segment, BlockNumber block, std::uint32_t version,
               std::uint32_t lane) const;
  std::vector<std::uint32_t> current_between(BlockNumber block, TimePoint from, TimePoint to) const;

  /// Where the newest version's segment lies; nothing for a block that was never saved.
  std::optional<std::uint64_t> address_of(BlockNumber block, std::uint32_t lane) const;

 private:
  struct Segment {
    std::uint64_t bytes = 0;
    BlockNumber block = 0;
    std::uint32_t version = 0;
    std::uint32_t lane = 0;
  };
  struct Saved {
    std::uint32_t version = 0;
    TimePoint from;
  };

  const std::uint64_t salt_;
  std::uint32_t versions_ = 0;
  std::map<std::uint64_t, Segment> segments_;  // by address, disjoint
  std::map<BlockNumber, std::vector<Saved>> saved_;
  using Addresses = std::map<std::uint32_t, std::uint64_t>;             // by lane
  std::map<std::pair<BlockNumber, std::uint32_t>, Addresses> written_;  // by block and version
};

}  // namespace corail::sim
