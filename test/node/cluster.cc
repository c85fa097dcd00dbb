#include "test/node/cluster.h"

#include <fmt/core.h>

#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "test/node/two_nodes.h"

namespace corail::test {
namespace {

constexpr std::uint32_t kSlots = 4;
/// Blocks of one node are numbered from here times its index, for their content.
constexpr std::uint32_t kBlocksOfNode = 1000;

template <typename T>
void must(const Result<T>& result) {
  if (!result.ok()) throw std::runtime_error(result.error().to_string());
}

template <typename T>
std::future<T> start(Node& node, Task<T> task) {
  return asio::co_spawn(node.executor(), std::move(task), asio::use_future);
}

Task<Result<void>> save_on_home(Node* node, std::shared_ptr<const Layout> shape,
                                std::shared_ptr<const BlockKeys> keys, std::uint32_t first) {
  BlockStore& store = node->blocks();
  const auto layout = store.intern(*shape);
  const std::vector<std::string_view> hashes(keys->hashes.begin(), keys->hashes.end());
  const std::vector<std::int32_t> numa = {0};
  SaveRequest request;
  request.name_space = keys->name_space;
  request.layout = layout;
  request.hashes = hashes;
  request.part_numa = numa;
  auto save = store.begin(request);
  if (!save) co_return save.error();
  for (const std::uint32_t block : save->new_blocks()) {
    for (std::uint32_t lane = 0; lane < layout->lanes(); ++lane) {
      const std::span<std::byte> bytes = save->writable(block, lane);
      for (std::uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = content(first + block, lane, i);
    }
  }
  auto put = save->put_part(0);
  if (!put) co_return put;
  auto sealed = save->seal();
  co_return sealed;
}

Task<std::uint64_t> leases_on_home(Node* node) { co_return node->blocks().stats().leases; }

}  // namespace

Cluster::Cluster(std::size_t nodes, Shape shape) : shape_(shape) {
  std::vector<Slot> slots(kSlots);
  for (Slot& slot : slots) slot = Slot{shape.segment_bytes, shape.segment_bytes, 0};
  layout_ = std::make_shared<const Layout>(*Layout::make(std::move(slots)));
  auto keys = std::make_shared<BlockKeys>();
  keys->name_space = "model/a";
  for (std::uint32_t i = 0; i < shape.blocks; ++i) keys->hashes.push_back(fmt::format("b-{}", i));
  keys_ = std::move(keys);
  for (std::size_t i = 0; i < nodes; ++i) {
    NodeOptions options;
    options.name = fmt::format("node-{}", i);
    options.listen = "127.0.0.1:0";
    for (std::uint32_t rail = 0; rail < shape.rails; ++rail) {
      options.rails.push_back(fmt::format("tcp:127.0.0.{}", rail + 1));
    }
    options.window_bytes = shape.window_bytes;
    options.max_read_bytes = shape.max_read_bytes;
    options.store.nodes = {NodeCapacity{0, shape.blocks * layout_->block_bytes() * 2 + kMiB}};
    randoms_.push_back(std::make_unique<SeededRandom>(100 + i));
    auto node = Node::create(std::move(options), clock_, *randoms_.back(), nullptr);
    must(node);
    nodes_.push_back(std::move(*node));
    must(start(*nodes_.back(), nodes_.back()->start()).get());
    save(i);
  }
}

Cluster::~Cluster() {
  for (std::size_t i = 0; i < nodes_.size(); ++i) close(i);
}

void Cluster::save(std::size_t index) {
  const auto first = static_cast<std::uint32_t>(index) * kBlocksOfNode;
  Node* const node = nodes_[index].get();
  must(start(*node, save_on_home(node, layout_, keys_, first)).get());
}

std::future<Result<std::shared_ptr<Peer>>> Cluster::connect(std::size_t from, std::size_t to) {
  return start(node(from), node(from).connect(address(to)));
}

std::future<Result<BlockView>> Cluster::fetch(std::size_t from, Peer& peer) {
  return start(node(from), peer.fetch_blocks(layout_, keys_, FetchOptions{}));
}

std::future<void> Cluster::close_peer(std::size_t from, std::shared_ptr<Peer> peer) {
  const auto close_it = [](std::shared_ptr<Peer> closed) -> Task<void> {
    co_await closed->close();
  };
  return asio::co_spawn(node(from).executor(), close_it(std::move(peer)), asio::use_future);
}

std::future<void> Cluster::start_close(std::size_t index) {
  return asio::co_spawn(node(index).executor(), node(index).close(), asio::use_future);
}

void Cluster::close(std::size_t index) {
  if (!nodes_[index]) return;
  start_close(index).get();
  nodes_[index]->stop();
  nodes_[index].reset();
}

std::uint64_t Cluster::mismatches(const BlockView& view, std::size_t holder) const {
  const auto first = static_cast<std::uint32_t>(holder) * kBlocksOfNode;
  std::uint64_t wrong = 0;
  for (std::uint32_t block = 0; block < view.blocks(); ++block) {
    for (std::uint32_t lane = 0; lane < layout_->lanes(); ++lane) {
      const std::span<const std::byte> bytes = view.segment(block, lane);
      for (std::uint64_t i = 0; i < bytes.size(); ++i) {
        wrong += bytes[i] != content(first + block, lane, i);
      }
    }
  }
  return wrong;
}

std::uint64_t Cluster::leases(std::size_t index) {
  return start(node(index), leases_on_home(nodes_[index].get())).get();
}

std::size_t Cluster::control_connections() const {
  std::set<std::string> ends;  // as the kernel writes them
  for (const auto& node : nodes_) {
    if (!node) continue;
    const std::string address = node->listen_address();
    const int port = std::stoi(address.substr(address.find(':') + 1));
    ends.insert(fmt::format("0100007F:{:04X}", port));
  }
  std::ifstream table("/proc/self/net/tcp");
  std::string line;
  std::size_t count = 0;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string number;
    std::string local;
    std::string remote;
    std::string state;
    fields >> number >> local >> remote >> state;
    constexpr std::string_view kEstablished = "01";
    if (state == kEstablished && ends.count(local) > 0) ++count;
  }
  return count;
}

}  // namespace corail::test
