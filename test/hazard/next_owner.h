#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/memory/slab_pool.h"
#include "test/support/canary.h"

namespace corail::test {

/// Where the chunks of a read lie, and how long they are.
class ChunkPlaces {
 public:
  explicit ChunkPlaces(const std::vector<SlabChunk>& chunks) {
    for (const SlabChunk& chunk : chunks) places_.emplace_back(chunk.bytes());
  }
  const std::vector<std::span<std::byte>>& all() const noexcept { return places_; }

 private:
  std::vector<std::span<std::byte>> places_;
};

/// Whoever gets the memory of a read from the pool once the read has given it back: the very same
/// bytes. Fills them with its own, and later counts those that somebody else has written (I1).
class NextOwner {
 public:
  NextOwner(SlabPool& pool, const ChunkPlaces& places) {
    for (const std::span<std::byte> place : places.all()) {
      auto chunk = pool.allocate(place.size(), 0);
      CORAIL_CHECK(chunk, "what was given back can be had again");
      chunks_.push_back(std::move(*chunk));
    }
    for (const SlabChunk& chunk : chunks_) {
      CORAIL_CHECK(was_there(places, chunk), "the pool reuses what was given back first");
      canaries_.emplace_back(chunk.bytes(), kSeed);
    }
  }

  std::uint64_t changed_bytes() const noexcept {
    std::uint64_t changed = 0;
    for (const Canary& canary : canaries_) changed += canary.changed_bytes();
    return changed;
  }

 private:
  static constexpr std::uint64_t kSeed = 0xFEED;

  static bool was_there(const ChunkPlaces& places, const SlabChunk& chunk) {
    return std::any_of(places.all().begin(), places.all().end(), [&](const auto& place) {
      return place.data() == chunk.bytes().data() && place.size() == chunk.bytes().size();
    });
  }

  std::vector<SlabChunk> chunks_;
  std::vector<Canary> canaries_;
};

}  // namespace corail::test
