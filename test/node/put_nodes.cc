#include "test/node/put_nodes.h"

#include <fmt/core.h>

#include <asio/query.hpp>
#include <asio/system_executor.hpp>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "engine/object/placement.h"

namespace corail::test {
namespace {

template <typename T>
void demand(const Result<T>& result) {
  if (!result.ok()) throw std::runtime_error(result.error().to_string());
}

std::unique_ptr<Node> started(NodeOptions options, Clock& clock, Random& random) {
  auto node = Node::create(std::move(options), clock, random, nullptr);
  demand(node);
  demand(TwoNodes::run(**node, (*node)->start()));
  return std::move(*node);
}

Task<Result<std::vector<std::byte>>> read_stored(ObjectStore* store, std::string key) {
  const auto lease = store->lease(key, std::nullopt, Duration::zero());
  if (!lease) co_return lease.error();
  const ObjectDescriptor& object = lease->info->object;
  std::vector<std::byte> bytes(object.size);
  Result<void> read = ok_result();
  for (std::uint32_t stripe = 0; read && stripe < object.chunks.size(); ++stripe) {
    const std::span<std::byte> into(bytes.data() + stripe * object.stripe_size,
                                    stripe_length(object.size, object.stripe_size, stripe));
    read = co_await store->read(lease->id, stripe, 0, into, ReadCheck::kVerify);
  }
  store->release(lease->id);
  if (!read) co_return std::move(read).error();
  co_return std::move(bytes);
}

Task<ObjectStoreStats> stats_of(ObjectStore* store) { co_return store->stats(); }

}  // namespace

std::vector<std::byte> put_content(std::uint64_t size, std::uint64_t seed) {
  std::vector<std::byte> bytes(size);
  for (std::uint64_t i = 0; i < size; i += sizeof(std::uint64_t)) {
    const std::uint64_t word = mix64(seed * 0x9E3779B97F4A7C15ULL + i);
    std::memcpy(bytes.data() + i, &word, std::min<std::uint64_t>(sizeof word, size - i));
  }
  return bytes;
}

PutNodes::PutNodes(Shape shape) {
  // As in TwoNodes: before anybody counts threads.
  [[maybe_unused]] auto& begun = asio::query(asio::system_executor(), asio::execution::context);
  NodeOptions home;
  home.name = "home";
  home.listen = "127.0.0.1:0";
  NodeOptions writer;
  writer.name = "writer";
  if (shape.writer_listens) writer.listen = "127.0.0.1:0";
  for (std::uint32_t i = 0; i < shape.rails; ++i) {
    home.rails.push_back(fmt::format("tcp:127.0.0.{}", i + 1));
    writer.rails.push_back(fmt::format("tcp:127.0.0.{}", i + 1));
  }
  home.put_bytes = shape.put_bytes;
  writer.put_bytes = shape.put_bytes;
  if (shape.directories.empty()) home.objects.memory_bytes = 64 * kMiB;
  home.objects.directories = shape.directories;
  home_ = started(std::move(home), clock_, home_random_);
  writer_ = started(std::move(writer), clock_, writer_random_);
}

PutNodes::~PutNodes() {
  close_writer();
  close_home();
}

void PutNodes::close_home() {
  if (!home_) return;
  run(*home_, home_->close());
  home_->stop();
  home_.reset();
}

void PutNodes::close_writer() {
  if (!writer_) return;
  run(*writer_, writer_->close());
  writer_->stop();
  writer_.reset();
}

std::shared_ptr<Peer> PutNodes::connect() {
  auto peer = run(*writer_, writer_->connect(home_->listen_address()));
  demand(peer);
  return std::move(*peer);
}

std::shared_ptr<Peer> PutNodes::connect_back() {
  auto peer = run(*home_, home_->connect(writer_->listen_address()));
  demand(peer);
  return std::move(*peer);
}

void PutNodes::close(Node& node, Peer& peer) { run(node, peer.close()); }

Result<std::unique_ptr<PutStream>> PutNodes::begin(Peer& peer, std::string key,
                                                   PutOptions options) {
  return run(*writer_, peer.put_object(std::move(key), std::move(options)));
}

Result<void> PutNodes::write(PutStream& put, std::span<const std::byte> bytes) {
  return run(*writer_, put.write(bytes));
}

Result<ObjectDescriptor> PutNodes::commit(PutStream& put) { return run(*writer_, put.commit()); }

void PutNodes::abort(PutStream& put) { run(*writer_, put.abort()); }

Result<ObjectDescriptor> PutNodes::put(Peer& peer, std::string key,
                                       std::span<const std::byte> bytes, PutOptions options) {
  return run(*writer_, peer.put_object(std::move(key), bytes, std::move(options)));
}

Result<std::vector<std::byte>> PutNodes::stored(std::string key) {
  return run(*home_, read_stored(&home_->objects(), std::move(key)));
}

ObjectStoreStats PutNodes::stats() { return run(*home_, stats_of(&home_->objects())); }

ResourceCensus PutNodes::census() {
  ResourceCensus census;
  census.add("open puts", [this] { return stats().open_puts; });
  census.add("object leases", [this] { return stats().leases; });
  census.add("chunks at home", [this] { return home_->memory().outstanding_bytes(); });
  census.add("regions of the writer",
             [this] { return writer_->regions().snapshot()->regions().size(); });
  return census;
}

}  // namespace corail::test
