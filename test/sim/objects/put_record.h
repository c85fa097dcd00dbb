#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/object/object_descriptor.h"
#include "test/sim/objects/content.h"

namespace corail::sim {

/// What the driver is about to put.
struct PutOrder {
  std::size_t key = 0;
  std::uint64_t size = 0;         // bytes
  std::uint64_t stripe_size = 0;  // bytes
  std::optional<ObjectGeneration> if_generation;
  TimePoint deadline;
};

/// One put as the model knows it.
struct PutRecord {
  PutNumber number = 0;
  PutOrder order;
  std::vector<Checksum64> checksums;  // of its stripes: what tells it from others' in a manifest
  std::optional<ObjectGeneration> generation;
  std::optional<TimePoint> cancelled;
  /// From when its writer has asked for the commit it may come to be the key's generation, unless
  /// the answer was one that says it never will.
  bool committing = false;
  bool refused = false;
  bool ended = false;  // its call has returned
  bool seen = false;   // as the key's generation
};

/// One deletion, likewise: from its begin until its end, and for ever where nobody knows its
/// outcome, the key may lose its generation, or only the one that it is for.
struct DeleteRecord {
  std::size_t key = 0;
  std::optional<ObjectGeneration> if_generation;
  TimePoint begin;
  std::optional<TimePoint> end;
};

/// What was a key's generation, from when on. The next one ends it.
struct Era {
  std::optional<ObjectGeneration> generation;  // nothing: there was no such key
  PutNumber put = 0;
  TimePoint since;
};

}  // namespace corail::sim
