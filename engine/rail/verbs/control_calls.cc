#include "engine/rail/verbs/control_calls.h"

#include <utility>

namespace corail {

Task<Result<QueuePairs>> make_pairs(VerbsPort* port, std::size_t count, PeerMay peer_may) {
  QueuePairs pairs;
  for (std::size_t i = 0; i < count; ++i) {
    auto pair = port->make_pair(peer_may);
    if (!pair.ok()) co_return std::move(pair).error();
    pairs.push_back(std::move(pair).value());
  }
  co_return std::move(pairs);
}

Task<Result<void>> connect_pairs(std::vector<PairPath> pairs) {
  for (const PairPath& one : pairs) {
    auto ready = one.pair->answer(one.path);
    if (ready.ok()) ready = one.pair->send(one.path);
    if (!ready.ok()) co_return ready;
  }
  co_return ok_result();
}

Task<Result<void>> fail_pair(QueuePair* pair) { co_return pair->fail(); }

Task<Result<void>> destroy_pair(QueuePair* pair) { co_return pair->destroy(); }

Task<Result<WriteKeys>> make_write_keys(VerbsMemory* memory,
                                        std::vector<std::span<std::byte>> pieces) {
  WriteKeys keys;
  for (const std::span<std::byte> piece : pieces) {
    auto key = memory->add_write_key(piece);
    if (!key.ok()) co_return std::move(key).error();
    WriteKey granted;
    granted.base = reinterpret_cast<std::uint64_t>(piece.data());
    granted.length = piece.size();
    granted.registration = std::move(key).value();
    keys.push_back(std::move(granted));
  }
  co_return std::move(keys);
}

Task<void> drop_write_keys(WriteKeys keys) {
  keys.clear();
  co_return;
}

}  // namespace corail
