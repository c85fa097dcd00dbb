#pragma once

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <span>
#include <utility>

#include "engine/memory/slab_pool.h"
#include "rpc/node.h"
#include "test/node/support.h"
#include "test/node/two_nodes.h"

namespace corail::test {

using Reading = std::future<Result<BlockView>>;

/// Blocks of 48 KiB over both devices, in small slices, so that reads take many of them. An
/// emulated machine has no memory to spare, and what is registered is pinned.
inline TwoNodes::Shape verbs_shape(std::uint32_t blocks) {
  TwoNodes::Shape shape;
  shape.blocks = blocks;
  shape.destination_bytes = 64 * kMiB;
  shape.rails = {"verbs:rxe0", "verbs:rxe1"};
  return shape;
}

/// Two nodes with a peer over both rails, which has been read from once.
struct VerbsNodes {
  explicit VerbsNodes(const TwoNodes::Shape& shape) : nodes(shape, 0, 0) {
    nodes.save();
    auto connected = nodes.connect();
    BOOST_REQUIRE_MESSAGE(connected.ok(), describe(connected));
    peer = std::move(*connected);
    check_reads();
  }

  /// Replaces the peer by one that has read nothing yet.
  void connect_anew() {
    TwoNodes::run(nodes.requester(), peer->close());
    auto connected = nodes.connect();
    BOOST_REQUIRE_MESSAGE(connected.ok(), describe(connected));
    peer = std::move(*connected);
  }

  /// Everything can be read, and is right.
  void check_reads() {
    const auto view = nodes.fetch(*peer, nodes.keys());
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(nodes.mismatches(*view) == 0U);
  }

  /// Starts a fetch of everything, and returns when it has its memory: it is being read.
  Reading start_read(FetchOptions options) {
    auto running = nodes.start(*peer, std::move(options));
    BOOST_REQUIRE(comes_true([&] { return outstanding() > 0 || ended(running); }));
    BOOST_REQUIRE(!ended(running));
    return running;
  }

  std::uint64_t outstanding() { return nodes.requester().memory().outstanding_bytes(); }
  static bool ended(const Reading& running) {
    return running.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  TwoNodes nodes;
  std::shared_ptr<Peer> peer;
};

/// The next owner of memory that a read has given back: fills it, and finds what others write.
class NextOwner {
 public:
  /// The memory of the last read that ended, where nothing else of the pool is free before it.
  NextOwner(SlabPool& pool, std::uint64_t bytes) {
    auto chunk = pool.allocate(bytes, 0);
    BOOST_REQUIRE_MESSAGE(chunk.ok(), describe(chunk));
    chunk_ = std::move(*chunk);
    std::memset(chunk_.bytes().data(), kFilling, chunk_.bytes().size());
  }

  std::uint64_t late_bytes() const {
    const std::span<const std::byte> bytes = chunk_.bytes();
    std::uint64_t late = 0;
    // By pages: an emulated processor compares many bytes at a time, or few.
    for (std::size_t at = 0; at < bytes.size(); at += kPage.size()) {
      const auto page = bytes.subspan(at, std::min(kPage.size(), bytes.size() - at));
      if (std::memcmp(page.data(), kPage.data(), page.size()) == 0) continue;
      for (const std::byte byte : page) late += byte != std::byte{kFilling};
    }
    return late;
  }

 private:
  static constexpr std::uint8_t kFilling = 0xEE;
  static constexpr auto kPage = [] {
    std::array<std::uint8_t, 4096> page{};
    page.fill(kFilling);
    return page;
  }();
  SlabChunk chunk_;
};

}  // namespace corail::test
