#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/runner.h"

namespace corail::bench {

/// The requester's nodes: one for each longest read that the encodings want, with the same rails,
/// windows and number of connections. Owned by the requester, used on the main thread. close() must
/// have been called before destruction.
class AskingNodes {
 public:
  /// Connects nothing yet. Fails with what Node::create() finds wrong.
  Result<void> create(const BenchOptions& options, Clock& clock, Random& random);
  Result<void> connect(const std::string& address);

  /// Who asks with each encoding of the options, in order; once connected.
  std::vector<Asker> askers(const BenchOptions& options) const;
  std::vector<std::string> describe_memory() const;

  void close();

 private:
  struct AskingNode {
    std::uint64_t max_read_bytes = 0;
    std::unique_ptr<Node> node;
    std::shared_ptr<Peer> peer;
  };
  std::vector<AskingNode> nodes_;
};

}  // namespace corail::bench
