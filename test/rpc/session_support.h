#pragma once

#include <algorithm>
#include <asio/this_coro.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/exec/event.h"
#include "engine/exec/memory_stream.h"
#include "engine/memory/region_registry.h"
#include "engine/store/block_store.h"
#include "rpc/rpc_server.h"
#include "rpc/session_client.h"
#include "test/rpc/codec_samples.h"
#include "test/rpc/connection_support.h"
#include "test/support/virtual_world.h"

namespace corail::test {

/// Doors that open for everybody and remember whom they let in.
class FakeRails final : public RailHost {
 public:
  Task<Result<std::vector<RailEndpoint>>> admit(SessionId session) override {
    if (refuse) co_return Error(Errc::kQuotaExceeded, Stage::kConnect, "no door is free");
    if (hold) {
      const auto executor = co_await asio::this_coro::executor;
      held.push_back(std::make_shared<Event>(executor));
      const auto event = held.back();
      co_await event->wait();
    }
    admitted.push_back(session);
    std::vector<RailEndpoint> endpoints(2, RailEndpoint{"tcp", "127.0.0.1", 7701, {}});
    endpoints[1].token.fill(static_cast<std::uint8_t>(session.value()));
    co_return endpoints;
  }
  Task<Result<std::string>> greet(SessionId session, std::uint32_t door,
                                  std::string words) override {
    if (door >= 2) co_return Error(Errc::kInvalidArgument, Stage::kConnect, "no such door");
    co_return std::to_string(session.value()) + ":" + std::to_string(door) + ":" + words;
  }
  Task<void> drop(SessionId session) override {
    dropped.push_back(session);
    co_return;
  }

  /// Lets those in that wait.
  void let_go() {
    for (const auto& event : held) event->notify();
  }

  bool refuse = false;
  bool hold = false;
  std::vector<std::shared_ptr<Event>> held;
  std::vector<SessionId> admitted;
  std::vector<SessionId> dropped;
};

inline StoreOptions small_store() {
  StoreOptions options;
  options.nodes.push_back(NodeCapacity{0, 1 << 20});
  return options;
}

/// Saves the blocks of the keys, filled with a byte that tells block and lane.
inline void save_blocks(BlockStore& store, const Layout& layout, const BlockKeys& keys) {
  const std::vector<std::string_view> hashes(keys.hashes.begin(), keys.hashes.end());
  const std::vector<std::int32_t> part_numa{0};
  SaveRequest request;
  request.name_space = keys.name_space;
  request.layout = store.intern(layout);
  request.hashes = hashes;
  request.part_numa = part_numa;
  auto save = store.begin(request);
  BOOST_REQUIRE(save.ok());
  for (const std::uint32_t block : save->new_blocks()) {
    for (std::uint32_t lane = 0; lane < layout.lanes(); ++lane) {
      const auto bytes = save->writable(block, lane);
      std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(block + lane));
    }
  }
  BOOST_REQUIRE(save->put_part(0).ok());
  BOOST_REQUIRE(save->seal().ok());
}

inline Task<bool> close(RpcServer* server) {
  co_await server->close();
  co_return true;
}
inline Task<bool> close(SessionClient* client) {
  co_await client->close();
  co_return true;
}

/// A holder with a real store behind a real server; clients connect over memory streams.
struct HolderWorld {
  explicit HolderWorld(RpcServerOptions options = {})
      : store(small_store(), registry, world.clock(), world.executor(), kBoot),
        server(world.executor(),
               SessionServices{NodeIdentity{NodeId(1), kBoot, "holder"}, world.clock(), registry,
                               rails, &store},
               options) {}
  ~HolderWorld() {
    for (const auto& client : clients) world.run(close(client.get()));
    world.run(close(&server));
  }

  TimePoint in(Duration time) const { return world.now() + time; }

  /// The client's end of a new connection to the server.
  std::unique_ptr<ByteStream> dial() {
    pairs.push_back(make_stream_pair(world.executor(), {}));
    server.adopt(std::move(pairs.back().right));
    return std::move(pairs.back().left);
  }
  Result<std::unique_ptr<SessionClient>> try_connect() {
    ClientOptions options;
    options.identity = NodeIdentity{NodeId(2), BootId(22), "requester"};
    return world.run(SessionClient::connect(world.executor(), world.clock(), dial(),
                                            std::move(options), in(std::chrono::seconds(5))));
  }
  SessionClient& connect() {
    auto client = try_connect();
    BOOST_REQUIRE(client.ok());
    clients.push_back(std::move(*client));
    return *clients.back();
  }

  /// Saves the blocks of the keys, all with the layout.
  void save(const BlockKeys& keys) { save_blocks(store, *layout, keys); }

  Result<TransferAnswer> query(SessionClient& client, std::uint64_t read, BlockKeys keys) {
    return world.run(client.query(query_of(read, std::move(keys)),
                                  CallOptions{in(std::chrono::seconds(5)), nullptr}));
  }
  TransferQuery query_of(std::uint64_t read, BlockKeys keys) const {
    TransferQuery query;
    query.read = ReadId(read);
    query.keys = std::make_shared<const BlockKeys>(std::move(keys));
    query.layout = layout;
    query.ttl = std::chrono::seconds(30);
    return query;
  }
  Result<void> confirm(SessionClient& client, std::uint64_t read) {
    return world.run(
        client.confirm_and_release(ReadId(read), in(std::chrono::seconds(5)), CancelToken()));
  }
  Result<void> release(SessionClient& client, std::uint64_t read) {
    return world.run(client.release(ReadId(read), in(std::chrono::seconds(5))));
  }

  VirtualWorld world;
  RegionRegistry registry;
  FakeRails rails;
  BlockStore store;
  RpcServer server;
  std::shared_ptr<const Layout> layout = layout_of({Slot{512, 512, 0}, Slot{256, 0, 0}});
  std::vector<MemoryStreamPair> pairs;
  std::vector<std::unique_ptr<SessionClient>> clients;
};

}  // namespace corail::test
