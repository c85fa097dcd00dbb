#include "test/bench/stored_node.h"

#include <boost/test/unit_test.hpp>

#include "apps/p2p_bench/node_call.h"

namespace corail::bench {
namespace {

NodeOptions options_for(const Shape& shape) {
  NodeOptions options;
  options.rails = {"tcp:127.0.0.1", "tcp:127.0.0.2"};
  options.listen = "127.0.0.1:0";
  options.store = store_options_for(shape, false);
  return options;
}

}  // namespace

StartedNode::StartedNode(NodeOptions options) {
  auto node = Node::create(std::move(options), clock_, random_, nullptr);
  BOOST_REQUIRE(node.ok());
  node_ = std::move(*node);
  const auto started = await_on(node_->executor(), node_->start());
  BOOST_REQUIRE(started.ok());
}

StartedNode::~StartedNode() {
  await_on(node_->executor(), node_->close());
  node_->stop();
}

StoredNode::StoredNode(const Shape& shape) : shape_(shape), started_(options_for(shape)) {
  const auto saved = save_sets(started_.node(), shape_);
  BOOST_REQUIRE(saved.ok());
}

SegmentLocation StoredNode::locate(std::uint32_t set, std::uint32_t block, std::uint32_t lane) {
  const auto place = call_on(node().executor(), [&] {
    return node().blocks().locate(name_space_of(shape_), block_hash(shape_.seed, set, block), lane);
  });
  BOOST_REQUIRE(place.ok());
  return *place;
}

}  // namespace corail::bench
