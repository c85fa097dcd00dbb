#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/exec/event.h"
#include "engine/memory/region_registry.h"
#include "engine/store/directory_medium.h"
#include "engine/store/memory_medium.h"
#include "engine/store/object_gate.h"
#include "engine/store/object_memory.h"
#include "engine/store/object_store.h"
#include "rpc/manifest/codec_manifest.h"
#include "rpc/object_client.h"
#include "rpc/push_staging.h"
#include "rpc/rpc_server.h"
#include "test/disk/simulated_disk.h"
#include "test/rpc/session_support.h"
#include "test/support/virtual_world.h"

namespace corail::test {

/// The object's stripes: two whole ones, and a short one.
inline constexpr std::uint64_t kOwnedStripe = kGranuleBytes;
inline constexpr std::uint64_t kOwnedBytes = 2 * kOwnedStripe + 100;

/// Doors whose pushes end when the test says so, or when their session is dropped.
class HeldDoors final : public RailHost {
 public:
  struct Push {
    explicit Push(const asio::any_io_executor& executor) : ended(executor) {}
    std::uint32_t door = 0;
    PushOrder order;
    std::vector<std::byte> bytes;
    std::function<bool()> cancelled;
    std::optional<Result<void>> result;
    Event ended;
  };

  explicit HeldDoors(asio::any_io_executor executor) : executor_(std::move(executor)) {}

  Task<Result<std::vector<RailEndpoint>>> admit(SessionId) override {
    co_return std::vector<RailEndpoint>(1, RailEndpoint{"tcp", "127.0.0.1", 7701, {}});
  }
  Task<Result<std::string>> greet(SessionId, std::uint32_t, std::string words) override {
    co_return words;
  }
  Task<Result<void>> push(SessionId, std::uint32_t door, PushOrder order, PinnedBytes bytes,
                          std::function<bool()> cancelled) override {
    const auto push = std::make_shared<Push>(executor_);
    push->door = door;
    push->order = order;
    push->bytes.assign(bytes.bytes.begin(), bytes.bytes.end());
    push->cancelled = std::move(cancelled);
    pushes.push_back(push);
    while (!push->result) {
      co_await push->ended.wait();
    }
    co_return *push->result;
  }
  Task<void> drop(SessionId) override {
    end_all(Error(Errc::kConnectionLost, "the channel ended"));
    ++drops;
    co_return;
  }
  void end_all(const Result<void>& result) {
    for (const auto& push : pushes) {
      if (!push->result) push->result = result;
      push->ended.notify();
    }
  }

  std::vector<std::shared_ptr<Push>> pushes;
  int drops = 0;

 private:
  const asio::any_io_executor executor_;
};

inline Task<bool> close_store(ObjectStore* store) {
  co_await store->close();
  co_return true;
}

inline Task<bool> put_object(ObjectStore* store, std::vector<std::byte> bytes) {
  PutRequest request;
  request.key = "a";
  request.size = bytes.size();
  request.stripe_size = kOwnedStripe;
  const auto begun = co_await store->begin_put(std::move(request));
  if (!begun.ok()) co_return false;
  const std::span<const std::byte> all(bytes);
  for (std::uint32_t i = 0; i * kOwnedStripe < bytes.size(); ++i) {
    const auto part =
        all.subspan(i * kOwnedStripe, std::min(kOwnedStripe, bytes.size() - i * kOwnedStripe));
    const auto written = co_await store->write(*begun, i, 0, part);
    if (!written.ok()) co_return false;
  }
  const auto committed = co_await store->commit_put(*begun);
  co_return committed.ok();
}

inline Task<bool> start_store(ObjectStore* store) {
  const auto started = co_await store->start();
  co_return started.ok();
}

/// An owner in virtual time with an object "a", and a session to it.
struct OwnerWorld {
  /// `staged`: what orders are read into from a disk; none: the object is in memory.
  explicit OwnerWorld(const std::optional<PushStagingOptions>& staged = std::nullopt)
      : doors(world.executor()) {
    if (staged) staging = std::move(*PushStaging::create(world.executor(), *staged));
    ObjectStoreOptions options;
    options.self.id = NodeId(1);
    options.self.addresses = {"owner:1"};
    store = std::make_unique<ObjectStore>(options, staged ? on_disk() : in_memory(), world.clock(),
                                          world.executor(), kBoot);
    BOOST_REQUIRE(world.run(start_store(store.get())));
    for (std::uint64_t i = 0; i < kOwnedBytes; ++i)
      content.push_back(static_cast<std::byte>(i * 7));
    BOOST_REQUIRE(world.run(put_object(store.get(), content)));
    gate =
        std::make_unique<ObjectGate>(*store, ObjectGateOptions(), world.clock(), world.executor());
    services.emplace(ObjectServices{*store, *gate, staging.get()});
    connect();
  }
  ~OwnerWorld() {
    doors.end_all(ok_result());
    if (client) world.run(close(client.get()));
    world.run(close(server.get()));
    gate.reset();
    world.run(close_store(store.get()));
  }

  std::unique_ptr<ObjectMedium> in_memory() {
    ObjectMemoryOptions memory;
    memory.nodes = {NodeCapacity{-1, kMiB}};
    auto made = ObjectMemory::create(memory, registry);
    BOOST_REQUIRE(made.ok());
    return std::make_unique<MemoryMedium>(std::move(*made), kBoot);
  }
  std::unique_ptr<ObjectMedium> on_disk() {
    DiskDirectories directories;
    directories.push_back(disk.directory("/disk"));
    return std::make_unique<DirectoryMedium>(std::move(directories), codec, random);
  }
  void connect() {
    SessionServices serving{NodeIdentity{NodeId(1), kBoot, "owner"}, world.clock(), registry,
                            doors};
    serving.objects = &*services;
    server = std::make_unique<RpcServer>(world.executor(), serving, RpcServerOptions());
    pair = make_stream_pair(world.executor(), {});
    server->adopt(std::move(pair.right));
    ClientOptions caller;
    caller.identity = NodeIdentity{NodeId(2), BootId(22), "reader"};
    auto connected =
        world.run(SessionClient::connect(world.executor(), world.clock(), std::move(pair.left),
                                         std::move(caller), world.now() + std::chrono::seconds(5)));
    BOOST_REQUIRE(connected.ok());
    client = std::move(*connected);
    BOOST_REQUIRE(
        world.run(client->open_rails({"tcp"}, world.now() + std::chrono::seconds(5))).ok());
  }

  Result<OpenObject> open(std::uint64_t read) {
    OpenObjectRequest request;
    request.read = ReadId(read);
    request.key = "a";
    request.generation = (*store->lookup("a"))->object.generation;
    ObjectClient calls(*client);
    const CallOptions options{world.now() + std::chrono::seconds(5), nullptr};
    return world.run(calls.open(std::move(request), 3, 0, options));
  }
  /// Orders bytes of the read; the answer, when there is one.
  using Answer = std::shared_ptr<std::optional<Result<PushReceipt>>>;
  Answer order(std::uint64_t read, std::uint64_t offset, std::uint64_t length) {
    ReadStripesRequest request;
    request.order.context.read = ReadId(read);
    request.order.number = ++last_number;
    request.order.source_offset = offset;
    request.order.length = length;
    auto answer = std::make_shared<std::optional<Result<PushReceipt>>>();
    client->order_stripes(request,
                          [answer](Result<PushReceipt> receipt) { *answer = std::move(receipt); });
    world.settle();
    return answer;
  }
  Errc refusal(std::uint64_t read, std::uint64_t offset, std::uint64_t length) {
    const std::size_t before = doors.pushes.size();
    const Answer answer = order(read, offset, length);
    BOOST_TEST(doors.pushes.size() == before);
    BOOST_REQUIRE(answer->has_value());
    return (*answer)->ok() ? Errc::kUnset : (*answer)->error().code();
  }

  VirtualWorld world;
  RegionRegistry registry;
  HeldDoors doors;
  std::vector<std::byte> content;
  SeededRandom random{5};
  SimulatedDisk disk{5};
  ProtobufManifestCodec codec;
  std::unique_ptr<PushStaging> staging;
  std::unique_ptr<ObjectStore> store;
  std::unique_ptr<ObjectGate> gate;
  std::optional<ObjectServices> services;
  std::unique_ptr<RpcServer> server;
  MemoryStreamPair pair;
  std::unique_ptr<SessionClient> client;
  std::uint64_t last_number = 0;
};

}  // namespace corail::test
