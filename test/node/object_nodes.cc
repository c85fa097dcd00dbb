#include "test/node/object_nodes.h"

#include <fmt/core.h>

#include <asio/co_spawn.hpp>
#include <asio/query.hpp>
#include <asio/system_executor.hpp>
#include <asio/use_future.hpp>
#include <span>
#include <stdexcept>
#include <utility>

#include "test/support/pattern.h"

namespace corail::test {
namespace {

/// Runs a coroutine on a node's executor and waits for it.
template <typename T>
T run_on_node(Node& node, Task<T> task) {
  return asio::co_spawn(node.executor(), std::move(task), asio::use_future).get();
}

std::vector<std::string> loopback_rails(std::uint32_t count) {
  std::vector<std::string> rails;
  for (std::uint32_t i = 0; i < count; ++i) rails.push_back(fmt::format("tcp:127.0.0.{}", i + 1));
  return rails;
}

std::unique_ptr<Node> started_node(NodeOptions options, Clock& clock, Random& random) {
  auto node = Node::create(std::move(options), clock, random, nullptr);
  if (!node.ok()) throw std::runtime_error(node.error().to_string());
  const auto started = run_on_node(**node, (*node)->start());
  if (!started.ok()) throw std::runtime_error(started.error().to_string());
  return std::move(*node);
}

void close_node(std::unique_ptr<Node>& node) {
  if (!node) return;
  run_on_node(*node, node->close());
  node->stop();
  node.reset();
}

}  // namespace

std::vector<std::byte> object_bytes(std::uint64_t seed, std::uint64_t size) {
  std::vector<std::byte> bytes(size);
  fill_pattern(bytes, seed, 0);
  return bytes;
}

std::uint64_t wrong_bytes(const ObjectView& view, std::uint64_t seed,
                          const std::vector<ObjectRange>& asked) {
  std::uint64_t wrong = 0;
  std::uint64_t expected = 0;
  for (const ObjectRange& range : asked) expected += range.length;
  if (view.size() != expected) return expected + view.size();
  auto range = asked.begin();
  std::uint64_t within = 0;
  for (const ObjectView::Piece& piece : view.pieces()) {
    if (range != asked.end() && within == range->length) {
      ++range;
      within = 0;
    }
    if (range == asked.end() || piece.offset != range->offset + within) return expected;
    wrong += differences(piece.bytes, seed, piece.offset);
    within += piece.bytes.size();
  }
  return wrong;
}

ObjectNodes::ObjectNodes(Shape shape) {
  // What use_future waits for may come by way of Asio's system executor, whose threads begin with
  // its first use: before anybody counts threads.
  [[maybe_unused]] auto& started = asio::query(asio::system_executor(), asio::execution::context);
  NodeOptions owner;
  owner.name = "owner";
  owner.listen = "127.0.0.1:0";
  owner.rails = loopback_rails(shape.owner_rails);
  owner.keep_alive = shape.keep_alive;
  if (shape.on_disks) {
    for (const TemporaryDirectory& folder : directories_) {
      owner.objects.directories.push_back(folder.path());
    }
    owner.objects.disk_threads = 2;
    owner.objects.staging_buffers = shape.staging_buffers;
    owner.objects.staging_buffer_bytes = shape.staging_buffer_bytes;
  } else {
    owner.objects.memory_bytes = shape.memory_bytes;
  }
  NodeOptions reader;
  reader.name = "reader";
  reader.rails = loopback_rails(shape.reader_rails);
  reader.max_read_bytes = shape.max_read_bytes;
  reader.window_bytes = shape.window_bytes;
  reader.keep_alive = shape.keep_alive;
  reader.node_budget_bytes = shape.node_budget_bytes;
  owner_ = started_node(std::move(owner), clock_, owner_random_);
  reader_ = started_node(std::move(reader), clock_, reader_random_);
}

ObjectNodes::~ObjectNodes() {
  close_node(reader_);
  close_node(owner_);
}

void ObjectNodes::close_owner() { close_node(owner_); }

Result<ObjectGeneration> ObjectNodes::put(std::string key, std::uint64_t seed, std::uint64_t size,
                                          std::uint64_t stripe_size) {
  PutRequest request;
  request.key = std::move(key);
  request.size = size;
  request.stripe_size = stripe_size;
  const auto staged =
      run_on_node(*owner_, stage_on_home(std::move(request), object_bytes(seed, size)));
  return staged.ok() ? commit(*staged) : staged;
}

Result<ObjectGeneration> ObjectNodes::stage(std::string key, std::uint64_t seed,
                                            std::uint64_t size) {
  PutRequest request;
  request.key = std::move(key);
  request.size = size;
  request.stripe_size = kMiB;
  return run_on_node(*owner_, stage_on_home(std::move(request), object_bytes(seed, size)));
}

Result<ObjectGeneration> ObjectNodes::commit(ObjectGeneration put) {
  const auto ask = [](Node* owner, ObjectGeneration staged) -> Task<Result<ObjectGeneration>> {
    const auto committed = co_await owner->objects().commit_put(staged);
    if (!committed.ok()) co_return committed.error();
    co_return (*committed)->object.generation;
  };
  return run_on_node(*owner_, ask(owner_.get(), put));
}

Task<Result<ObjectGeneration>> ObjectNodes::stage_on_home(PutRequest request,
                                                          std::vector<std::byte> bytes) {
  const std::uint64_t stripe_size = request.stripe_size;
  ObjectStore& store = owner_->objects();
  const auto put = co_await store.begin_put(std::move(request));
  if (!put.ok()) co_return put.error();
  std::span<const std::byte> left(bytes);
  for (std::uint32_t stripe = 0; !left.empty(); ++stripe) {
    const auto part = left.first(std::min<std::uint64_t>(left.size(), stripe_size));
    auto written = co_await store.write(*put, stripe, 0, part);
    if (!written.ok()) co_return std::move(written).error();
    left = left.subspan(part.size());
  }
  co_return *put;
}

ObjectStoreStats ObjectNodes::stats() {
  const auto ask = [](Node* owner) -> Task<ObjectStoreStats> {
    co_return owner->objects().stats();
  };
  return run_on_node(*owner_, ask(owner_.get()));
}

Result<std::shared_ptr<Peer>> ObjectNodes::connect() {
  return run_on_node(*reader_, reader_->connect(owner_->listen_address()));
}

Result<ObjectDescriptor> ObjectNodes::lookup(Peer& peer, std::string key) {
  return run_on_node(*reader_, peer.lookup_object(std::move(key)));
}

Result<ObjectView> ObjectNodes::read(Peer& peer, ObjectDescriptor object,
                                     ReadObjectOptions options) {
  return start(peer, std::move(object), std::move(options)).get();
}

std::future<Result<ObjectView>> ObjectNodes::start(Peer& peer, ObjectDescriptor object,
                                                   ReadObjectOptions options) {
  return asio::co_spawn(reader_->executor(),
                        peer.read_by_descriptor(std::move(object), std::move(options)),
                        asio::use_future);
}

Result<std::vector<ObjectSummary>> ObjectNodes::list(Peer& peer, ListObjectsRequest page) {
  return run_on_node(*reader_, peer.list_objects(std::move(page)));
}

Result<ObjectGeneration> ObjectNodes::erase(Peer& peer, std::string key,
                                            std::optional<ObjectGeneration> if_generation) {
  return run_on_node(*reader_, peer.delete_object(std::move(key), if_generation));
}

void ObjectNodes::close(Peer& peer) { run_on_node(*reader_, peer.close()); }

ResourceCensus ObjectNodes::census() {
  ResourceCensus census;
  census.add("leases", [this] { return stats().leases; });
  census.add("superseded generations", [this] { return stats().superseded; });
  census.add("bytes of chunks", [this] { return reader_->memory().outstanding_bytes(); });
  return census;
}

}  // namespace corail::test
