#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/limit_client.h"
#include "apps/p2p_bench/limit_server.h"
#include "rpc/node.h"

namespace corail::bench {

/// A holder and a requester of this process, connected over loopback rails, and plain sockets
/// between the same addresses. The holder has one small set, whose memory the sockets send as well,
/// and one big set.
///
/// Owned by main() and used on its thread, but for fetch(), which any thread may call. The clock
/// outlives it.
class LatencyPair {
 public:
  /// `options` say rails, connections and the small set's shape. Fails as Node and LimitServer do.
  static Result<std::unique_ptr<LatencyPair>> open(const BenchOptions& options,
                                                   std::uint32_t big_blocks, Clock& clock);
  ~LatencyPair();
  LatencyPair(const LatencyPair&) = delete;
  LatencyPair& operator=(const LatencyPair&) = delete;

  /// Time of one read, from the call until the view is there; the view is dropped.
  Result<Duration> fetch_small() { return fetch(small_keys_); }
  Result<Duration> fetch_big() { return fetch(big_keys_); }

  /// Time of one request and answer of the small set's bytes over the plain sockets.
  Result<Duration> exchange();

 private:
  LatencyPair(const BenchOptions& options, std::uint32_t big_blocks, Clock& clock);
  Result<void> connect();
  Result<void> open_sockets();
  Result<Duration> fetch(const std::shared_ptr<const BlockKeys>& keys);

  const BenchOptions options_;
  Shape big_;
  Clock& clock_;
  SystemRandom random_;
  std::unique_ptr<Node> holder_;
  std::unique_ptr<Node> requester_;
  std::shared_ptr<Peer> peer_;
  std::shared_ptr<const Layout> layout_;
  std::shared_ptr<const BlockKeys> small_keys_;
  std::shared_ptr<const BlockKeys> big_keys_;
  std::vector<SourceMemory> small_memory_;
  std::unique_ptr<LimitServer> server_;
  std::unique_ptr<LimitClient> client_;
};

}  // namespace corail::bench
