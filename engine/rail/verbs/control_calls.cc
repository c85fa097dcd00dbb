#include "engine/rail/verbs/control_calls.h"

#include <utility>

namespace corail {

Task<Result<QueuePairs>> make_pairs(VerbsPort* port, std::size_t count, bool serves_reads) {
  QueuePairs pairs;
  for (std::size_t i = 0; i < count; ++i) {
    auto pair = port->make_pair(serves_reads);
    if (!pair.ok()) co_return std::move(pair).error();
    pairs.push_back(std::move(pair).value());
  }
  co_return std::move(pairs);
}

Task<Result<void>> connect_pairs(std::vector<PairPath> pairs, bool sends) {
  for (const PairPath& one : pairs) {
    auto ready = one.pair->answer(one.path);
    if (ready.ok() && sends) ready = one.pair->send(one.path);
    if (!ready.ok()) co_return ready;
  }
  co_return ok_result();
}

Task<Result<void>> destroy_pair(QueuePair* pair) { co_return pair->destroy(); }

}  // namespace corail
