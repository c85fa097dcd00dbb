#include "apps/p2p_bench/asking_nodes.h"

#include <algorithm>
#include <utility>

#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/node_setup.h"

namespace corail::bench {

Result<void> AskingNodes::create(const BenchOptions& options, Clock& clock, Random& random) {
  for (const std::uint64_t most : longest_reads(options)) {
    NodeOptions node_options = node_options_for(options);
    node_options.max_read_bytes = most;
    auto node = Node::create(std::move(node_options), clock, random, nullptr);
    if (!node.ok()) return std::move(node).error();
    nodes_.push_back({most, std::move(*node), nullptr});
  }
  return ok_result();
}

Result<void> AskingNodes::connect(const std::string& address) {
  for (AskingNode& asking : nodes_) {
    auto started = await_on(asking.node->executor(), asking.node->start());
    if (!started.ok()) return started;
    auto peer = await_on(asking.node->executor(), asking.node->connect(address));
    if (!peer.ok()) return std::move(peer).error();
    asking.peer = std::move(*peer);
  }
  return ok_result();
}

std::vector<Asker> AskingNodes::askers(const BenchOptions& options) const {
  std::vector<Asker> askers;
  for (const AnswerEncoding encoding : options.encodings) {
    const auto asking = std::ranges::find(nodes_, max_read_bytes_for(options, encoding),
                                          &AskingNode::max_read_bytes);
    askers.push_back({encoding, asking->node.get(), asking->peer.get()});
  }
  return askers;
}

std::vector<std::string> AskingNodes::describe_memory() const {
  std::vector<std::string> lines;
  for (const AskingNode& asking : nodes_) {
    for (std::string& line : asking.node->memory().describe()) lines.push_back(std::move(line));
  }
  return lines;
}

void AskingNodes::close() {
  for (AskingNode& asking : nodes_) {
    asking.peer.reset();
    await_on(asking.node->executor(), asking.node->close());
    asking.node->stop();
  }
}

}  // namespace corail::bench
