#include "apps/p2p_bench/object_work.h"

#include <fmt/core.h>

#include <algorithm>

#include "apps/p2p_bench/option_values.h"
#include "engine/base/units.h"
#include "engine/plan/layout.h"

namespace corail::bench {
namespace {

/// Far more than any store of a bench holds; below it no size that is computed here can overflow.
constexpr std::uint32_t kMaxObjectMib = 1U << 20;
constexpr std::uint32_t kMaxStripeMib = kMaxSegmentBytes / kMiB;

Error impossible(std::string sentence) {
  return Error(Errc::kInvalidArgument, std::move(sentence));
}

}  // namespace

std::vector<std::string> ObjectWork::directories() const {
  return in_memory() ? std::vector<std::string>() : split_list(store, ',');
}

Result<void> check_object_work(const ObjectWork& work) {
  if (work.stripe_mib == 0 || work.stripe_mib > kMaxStripeMib) {
    return impossible(fmt::format("--stripe-mib {} is not possible, 1 to {} are", work.stripe_mib,
                                  kMaxStripeMib));
  }
  if (work.object_mib == 0 || work.object_mib > kMaxObjectMib) {
    return impossible(fmt::format("--object-mib {} is not possible, 1 to {} are", work.object_mib,
                                  kMaxObjectMib));
  }
  if (work.object_mib % work.stripe_mib != 0) {
    return impossible(fmt::format("--object-mib {} is no multiple of --stripe-mib {}",
                                  work.object_mib, work.stripe_mib));
  }
  const std::vector<std::string> directories = work.directories();
  const auto empty = [](const std::string& directory) { return directory.empty(); };
  if (std::ranges::any_of(directories, empty)) {
    return impossible("--store has an empty entry, it is memory or a list like /disk1,/disk2");
  }
  if (!work.in_memory() && work.transfer == ObjectTransfer::kPull) {
    return impossible("--mode pull reads the holder's memory, objects of directories are pushed");
  }
  return ok_result();
}

Shape shape_of_objects(const ObjectWork& work, std::uint64_t seed) {
  Shape shape;
  shape.blocks = work.object_mib / work.stripe_mib;
  shape.layers = 1;
  shape.ranks = 1;
  shape.segments = 1;
  shape.segment_bytes = static_cast<std::uint32_t>(work.stripe_mib * kMiB);
  shape.numa_nodes = 1;
  shape.sets = work.count;
  shape.seed = seed;
  return shape;
}

std::string object_key(const Shape& shape, std::uint32_t set) {
  return fmt::format("p2p_bench/{}x{}/{}/{}", shape.blocks, shape.segment_bytes, shape.seed, set);
}

std::string to_string(ObjectTransfer transfer) {
  return transfer == ObjectTransfer::kPull ? "pull" : "push";
}

std::string to_string(ObjectScheduler scheduler) {
  switch (scheduler) {
    case ObjectScheduler::kLeastLoaded:
      return "least_loaded";
    case ObjectScheduler::kRoundRobin:
      return "round_robin";
    case ObjectScheduler::kLocality:
      return "locality";
  }
  return "unknown";
}

}  // namespace corail::bench
