#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_shape.h"
#include "engine/base/result.h"

namespace corail::bench {

/// How stripes come to the requester: it reads them from the holder's memory, or the holder writes
/// them into its own.
enum class ObjectTransfer { kPull, kPush };

/// Which rail takes which slice of an object.
enum class ObjectScheduler { kLeastLoaded, kRoundRobin, kLocality };

/// What `--objects` and its companions say. A value.
struct ObjectWork {
  std::uint32_t count = 0;  // 0: the run reads blocks
  std::uint32_t object_mib = 64;
  std::uint32_t stripe_mib = 4;
  std::string store = "memory";  // or directories, one per device, separated by commas
  ObjectTransfer transfer = ObjectTransfer::kPull;
  ObjectScheduler scheduler = ObjectScheduler::kLeastLoaded;

  bool in_memory() const { return store == "memory"; }
  /// The directories of the store; empty where it is in memory.
  std::vector<std::string> directories() const;
};

/// Refuses what cannot be put or read, in one sentence that names the flag.
Result<void> check_object_work(const ObjectWork& work);

/// Objects as a shape, so that contents, limits and figures are made as for blocks: an object is a
/// set, a stripe a block of one segment.
Shape shape_of_objects(const ObjectWork& work, std::uint64_t seed);

/// The key of object `set`: other flags of the shape make other keys.
std::string object_key(const Shape& shape, std::uint32_t set);

std::string to_string(ObjectTransfer transfer);
std::string to_string(ObjectScheduler scheduler);

}  // namespace corail::bench
