#include "test/node/two_nodes.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/query.hpp>
#include <asio/system_executor.hpp>
#include <stdexcept>
#include <string_view>

namespace corail::test {
namespace {

/// Without Boost.Test, because a program that is no test uses this too; it fails a test as well.
template <typename T>
void require(const Result<T>& result) {
  if (!result.ok()) throw std::runtime_error(result.error().to_string());
}

std::vector<std::string> loopback_rails(std::uint32_t count) {
  std::vector<std::string> rails;
  for (std::uint32_t i = 0; i < count; ++i) rails.push_back(fmt::format("tcp:127.0.0.{}", i + 1));
  return rails;
}

std::unique_ptr<Node> make_node(NodeOptions options, Clock& clock, Random& random) {
  auto node = Node::create(std::move(options), clock, random, nullptr);
  require(node);
  require(TwoNodes::run(**node, (*node)->start()));
  return std::move(*node);
}

}  // namespace

TwoNodes::TwoNodes(Shape shape, std::uint32_t holder_rails, std::uint32_t requester_rails)
    : shape_(shape) {
  // What use_future waits for may come by way of Asio's system executor, whose threads begin with
  // its first use: before anybody counts threads.
  [[maybe_unused]] auto& started = asio::query(asio::system_executor(), asio::execution::context);
  std::vector<Slot> slots(shape.slots);
  for (Slot& slot : slots) slot = Slot{shape.segment_bytes, shape.segment_bytes, 0};
  layout_ = std::make_shared<const Layout>(*Layout::make(std::move(slots)));
  keys_ = keys_of(shape.blocks);

  NodeOptions holder;
  holder.name = "holder";
  holder.listen = "127.0.0.1:0";
  holder.rails = loopback_rails(holder_rails);
  holder.store.nodes = {NodeCapacity{0, shape.blocks * layout_->block_bytes() * 2 + kMiB}};
  NodeOptions requester;
  requester.name = "requester";
  requester.rails = loopback_rails(requester_rails);
  requester.max_read_bytes = shape.max_read_bytes;
  requester.window_bytes = shape.window_bytes;
  requester.keep_alive = shape.keep_alive;
  requester.fence_deadline = shape.fence_deadline;
  requester.node_budget_bytes = shape.node_budget_bytes;
  requester.peer_budget_bytes = shape.peer_budget_bytes;
  requester.port_budget_bytes = shape.port_budget_bytes;
  requester.lease_ttl = shape.lease_ttl;
  requester.lease_margin = shape.lease_margin;
  holder_ = make_node(std::move(holder), clock_, random_);
  requester_ = make_node(std::move(requester), requester_clock_, requester_random_);
}

TwoNodes::~TwoNodes() {
  run(*requester_, requester_->close());
  requester_->stop();
  close_holder();
}

void TwoNodes::close_holder() {
  if (!holder_) return;
  run(*holder_, holder_->close());
  holder_->stop();
  holder_.reset();
}

StoreStats TwoNodes::holder_stats() {
  const auto ask = [](Node* holder) -> Task<StoreStats> { co_return holder->blocks().stats(); };
  return run(*holder_, ask(holder_.get()));
}

std::shared_ptr<const BlockKeys> TwoNodes::keys_of(std::uint32_t blocks) const {
  auto keys = std::make_shared<BlockKeys>();
  keys->name_space = "model/a";
  for (std::uint32_t i = 0; i < blocks; ++i) keys->hashes.push_back(fmt::format("block-{}", i));
  return keys;
}

void TwoNodes::save() { require(run(*holder_, save_on_home())); }

Task<Result<void>> TwoNodes::save_on_home() {
  BlockStore& store = holder_->blocks();
  const auto layout = store.intern(*layout_);
  const std::vector<std::string_view> hashes(keys_->hashes.begin(), keys_->hashes.end());
  const std::vector<std::int32_t> numa = {0};
  SaveRequest request;
  request.name_space = keys_->name_space;
  request.layout = layout;
  request.hashes = hashes;
  request.part_numa = numa;
  request.order = shape_.order;
  auto save = store.begin(request);
  if (!save) co_return save.error();
  for (const std::uint32_t block : save->new_blocks()) {
    for (std::uint32_t lane = 0; lane < layout->lanes(); ++lane) {
      const std::span<std::byte> bytes = save->writable(block, lane);
      for (std::uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = content(block, lane, i);
    }
  }
  auto put = save->put_part(0);
  if (!put) co_return put;
  auto sealed = save->seal();
  co_return sealed;
}

Result<std::shared_ptr<Peer>> TwoNodes::connect_to(std::string address) {
  return run(*requester_, requester_->connect(std::move(address)));
}

Result<BlockView> TwoNodes::fetch(Peer& peer, std::shared_ptr<const BlockKeys> keys,
                                  FetchOptions options) {
  return run(*requester_, peer.fetch_blocks(layout_, std::move(keys), options));
}

std::future<Result<BlockView>> TwoNodes::start(Peer& peer, FetchOptions options) {
  return asio::co_spawn(requester_->executor(),
                        peer.fetch_blocks(layout_, keys_, std::move(options)), asio::use_future);
}

std::uint64_t TwoNodes::mismatches(const BlockView& view, LaneRange lanes) const {
  std::uint64_t wrong = 0;
  for (std::uint32_t block = 0; block < view.blocks(); ++block) {
    for (std::uint32_t lane = lanes.begin; lane < std::min(lanes.end, layout_->lanes()); ++lane) {
      const std::span<const std::byte> bytes = view.segment(block, lane);
      for (std::uint64_t i = 0; i < bytes.size(); ++i) wrong += bytes[i] != content(block, lane, i);
    }
  }
  return wrong;
}

}  // namespace corail::test
