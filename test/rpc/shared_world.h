#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/exec/sleep.h"
#include "test/rpc/session_support.h"

namespace corail::test {

/// A node as far as control connections see it: blocks, doors, and a server that dials too.
struct ControlNode {
  ControlNode(VirtualWorld& world, NodeIdentity who)
      : identity(std::move(who)),
        store(small_store(), registry, world.clock(), world.executor(), identity.boot),
        server(world.executor(), SessionServices{identity, world.clock(), registry, rails, &store},
               {}) {}

  const NodeIdentity identity;
  RegionRegistry registry;
  FakeRails rails;
  BlockStore store;
  RpcServer server;
};

using Connected = Result<std::unique_ptr<SessionClient>>;

/// Nodes that connect to each other over memory streams, in virtual time.
struct SharedWorld {
  explicit SharedWorld(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i)
      add(NodeIdentity{NodeId(i + 1), BootId(100 + i), "n"});
  }
  ~SharedWorld() {
    for (const auto& client : clients) world.run(test::close(client.get()));
    for (const auto& node : nodes) world.run(test::close(&node->server));
  }

  ControlNode& add(NodeIdentity identity) {
    nodes.push_back(std::make_unique<ControlNode>(world, std::move(identity)));
    save_blocks(nodes.back()->store, *layout, keys_of(3));
    return *nodes.back();
  }
  ControlNode& node(std::size_t index) { return *nodes[index]; }

  /// One dials the other, after a while, over a stream with this latency.
  VirtualWorld::Outcome<Connected> start(std::size_t from, std::size_t to, Duration wait,
                                         Duration latency) {
    return world.start(connect_later(this, from, to, wait, latency));
  }
  VirtualWorld::Outcome<Connected> start(std::size_t from, std::size_t to) {
    return start(from, to, Duration::zero(), Duration::zero());
  }
  /// Keeps what it came to until the world ends.
  SessionClient& keep(const VirtualWorld::Outcome<Connected>& outcome) {
    BOOST_REQUIRE(outcome->has_value());
    if (!(*outcome)->ok()) BOOST_FAIL((*outcome)->error().to_string());
    clients.push_back(std::move(***outcome));
    return *clients.back();
  }
  SessionClient& connect(std::size_t from, std::size_t to) {
    const auto outcome = start(from, to);
    world.settle();
    return keep(outcome);
  }
  void close(SessionClient& client) {
    world.run(test::close(&client));
    world.settle();
  }

  Result<TransferAnswer> query(SessionClient& client, std::uint64_t read) {
    TransferQuery query;
    query.read = ReadId(read);
    query.keys = std::make_shared<const BlockKeys>(keys_of(3));
    query.layout = layout;
    query.ttl = std::chrono::seconds(30);
    return world.run(client.query(std::move(query), CallOptions{soon(), nullptr}));
  }
  Result<std::vector<RailEndpoint>> open_rails(SessionClient& client) {
    return world.run(client.open_rails({"tcp:127.0.0.2"}, soon()));
  }
  Result<void> confirm(SessionClient& client, std::uint64_t read) {
    return world.run(client.confirm_and_release(ReadId(read), soon(), CancelToken()));
  }
  /// A whole read's worth of calls.
  bool works(SessionClient& client, std::uint64_t read) {
    const auto answer = query(client, read);
    const auto confirmed = confirm(client, read);
    return answer.ok() && answer->blocks.block_count == 3 && confirmed.ok();
  }
  TimePoint soon() const { return world.now() + std::chrono::seconds(5); }

  VirtualWorld world;
  std::shared_ptr<const Layout> layout = layout_of({Slot{512, 512, 0}, Slot{256, 0, 0}});
  std::vector<std::unique_ptr<ControlNode>> nodes;
  std::vector<MemoryStreamPair> pairs;
  std::vector<std::unique_ptr<SessionClient>> clients;

 private:
  static Task<Connected> connect_later(SharedWorld* self, std::size_t from, std::size_t to,
                                       Duration wait, Duration latency) {
    VirtualWorld& world = self->world;
    const auto timer = world.clock().make_timer(world.executor());
    if (wait > Duration::zero()) co_await sleep_until(*timer, world.now() + wait);
    MemoryStreamOptions options;
    options.latency = latency;
    options.clock = &world.clock();
    options.right_name = "dialed";
    self->pairs.push_back(make_stream_pair(world.executor(), options));
    auto own = std::move(self->pairs.back().left);
    self->node(to).server.adopt(std::move(self->pairs.back().right));
    auto connected = co_await self->node(from).server.connect(std::move(own), self->soon());
    co_return connected;
  }
};

}  // namespace corail::test
