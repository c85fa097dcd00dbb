#include "bench/latency_pair.h"

#include <span>
#include <utility>

#include "apps/p2p_bench/destination.h"
#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/node_setup.h"
#include "apps/p2p_bench/read_round.h"
#include "apps/p2p_bench/save_steps.h"
#include "apps/p2p_bench/stored_sets.h"
#include "engine/base/random.h"

namespace corail::bench {
namespace {

/// One send or receive call of the plain sockets: the best one for answers of this size.
constexpr std::uint32_t kCallBytes = 256 * 1024;

StoreOptions both_stores(const Shape& small, const Shape& big) {
  StoreOptions options = store_options_for(small, false);
  const StoreOptions more = store_options_for(big, false);
  for (std::size_t i = 0; i < options.nodes.size(); ++i) {
    options.nodes[i].bytes += more.nodes[i].bytes;
  }
  return options;
}

std::shared_ptr<const BlockKeys> keys_of(const Shape& shape) {
  return std::make_shared<const BlockKeys>(make_keys(shape, 0, request_order(shape, 0)));
}

}  // namespace

LatencyPair::LatencyPair(const BenchOptions& options, std::uint32_t big_blocks, Clock& clock)
    : options_(options), big_(options.shape), clock_(clock) {
  big_.blocks = big_blocks;
  small_keys_ = keys_of(options_.shape);
  big_keys_ = keys_of(big_);
}

Result<std::unique_ptr<LatencyPair>> LatencyPair::open(const BenchOptions& options,
                                                       std::uint32_t big_blocks, Clock& clock) {
  std::unique_ptr<LatencyPair> pair(new LatencyPair(options, big_blocks, clock));
  auto opened = pair->connect();
  if (opened.ok()) opened = pair->open_sockets();
  if (!opened.ok()) return std::move(opened).error();
  return pair;
}

Result<void> LatencyPair::connect() {
  auto layout = make_layout(options_.shape);
  if (!layout.ok()) return std::move(layout).error();
  layout_ = std::make_shared<const Layout>(std::move(*layout));

  NodeOptions holder = node_options_for(options_);
  holder.listen = "127.0.0.1:0";
  holder.store = both_stores(options_.shape, big_);
  auto node = Node::create(std::move(holder), clock_, random_, nullptr);
  if (!node.ok()) return std::move(node).error();
  holder_ = std::move(*node);
  auto started = await_on(holder_->executor(), holder_->start());
  if (!started.ok()) return started;
  auto small = save_sets(*holder_, options_.shape);
  if (!small.ok()) return std::move(small).error();
  small_memory_ = std::move(*small);
  const auto big = save_sets(*holder_, big_);
  if (!big.ok()) return big.error();

  node = Node::create(node_options_for(options_), clock_, random_, nullptr);
  if (!node.ok()) return std::move(node).error();
  requester_ = std::move(*node);
  started = await_on(requester_->executor(), requester_->start());
  if (!started.ok()) return started;
  auto peer = await_on(requester_->executor(), requester_->connect(holder_->listen_address()));
  if (!peer.ok()) return std::move(peer).error();
  peer_ = std::move(*peer);
  return ok_result();
}

Result<void> LatencyPair::open_sockets() {
  const std::vector<std::string> hosts = rail_hosts(options_.rails, "127.0.0.1");
  auto server = LimitServer::open("127.0.0.1", hosts, 0, options_.shape, small_memory_);
  if (!server.ok()) return std::move(server).error();
  server_ = std::move(*server);
  const auto hello = ask_holder(server_->address());
  if (!hello.ok()) return hello.error();
  auto client = LimitClient::open(*hello, hosts, options_.channels_per_rail, clock_);
  if (!client.ok()) return std::move(client).error();
  client_ = std::move(*client);
  return ok_result();
}

LatencyPair::~LatencyPair() {
  client_.reset();
  server_.reset();
  peer_.reset();
  for (Node* node : {requester_.get(), holder_.get()}) {
    if (node == nullptr) continue;
    await_on(node->executor(), node->close());
    node->stop();
  }
}

Result<Duration> LatencyPair::fetch(const std::shared_ptr<const BlockKeys>& keys) {
  RoundRequest request;
  request.node = requester_.get();
  request.peer = peer_.get();
  request.clock = &clock_;
  request.layout = layout_;
  request.keys = {keys};
  request.fetch.integrity = options_.integrity;
  const ReadRound round = run_round(request);
  const auto& view = round.reads.front().view;
  if (!view.ok()) return view.error();
  return round.took;
}

Result<Duration> LatencyPair::exchange() {
  // The memory that the last view had: warm, as it is for the reads.
  auto chunks = allocate_like_reads(requester_->memory(), options_.shape, 1);
  if (!chunks.ok()) return std::move(chunks).error();
  std::vector<std::span<std::byte>> destination;
  for (const SlabChunk& chunk : *chunks) destination.push_back(chunk.bytes());
  return client_->fetch(0, kCallBytes, destination);
}

}  // namespace corail::bench
