#include "engine/rail/verbs/kept_pairs.h"

#include <mutex>
#include <utility>
#include <vector>

namespace corail {
namespace {

struct KeptPair {
  std::shared_ptr<VerbsPort> port;
  std::unique_ptr<QueuePair> pair;
};

/// Reachable on purpose, so that a leak checker does not take them for lost.
struct KeptPairs {
  std::mutex mutex;
  std::vector<KeptPair> pairs;
};

KeptPairs& all_kept_pairs() noexcept {
  // Never destroyed: no queue pair in it could be.
  static KeptPairs* const all = new KeptPairs;
  return *all;
}

}  // namespace

void keep_for_ever(std::shared_ptr<VerbsPort> port, std::unique_ptr<QueuePair> pair) {
  KeptPairs& all = all_kept_pairs();
  KeptPair kept;
  kept.port = std::move(port);
  kept.pair = std::move(pair);
  const std::lock_guard lock(all.mutex);
  all.pairs.push_back(std::move(kept));
}

std::size_t kept_pairs() noexcept {
  KeptPairs& all = all_kept_pairs();
  const std::lock_guard lock(all.mutex);
  return all.pairs.size();
}

}  // namespace corail
