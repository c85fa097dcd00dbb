#pragma once

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <future>
#include <utility>

#include "test/node/support.h"
#include "test/node/two_nodes.h"

namespace corail::test {

/// A read that takes thousands of round trips: there is time for something in its middle.
inline TwoNodes::Shape slow_read() {
  TwoNodes::Shape shape;
  shape.blocks = 400;
  shape.segment_bytes = 16 * 1024;
  shape.max_read_bytes = 4 * kKiB;
  shape.window_bytes = 4 * kKiB;
  shape.keep_alive = std::chrono::milliseconds(200);
  shape.fence_deadline = std::chrono::milliseconds(200);
  return shape;
}

template <typename T>
bool ready(const std::future<T>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// Starts a fetch of everything.
inline std::future<Result<BlockView>> start_fetch(TwoNodes& nodes, Peer& peer,
                                                  FetchOptions options) {
  return asio::co_spawn(nodes.requester().executor(),
                        peer.fetch_blocks(nodes.layout(), nodes.keys(), std::move(options)),
                        asio::use_future);
}

/// The same, and returns when it has its memory, hence its answer, and is being read.
inline std::future<Result<BlockView>> start_read(TwoNodes& nodes, Peer& peer,
                                                 FetchOptions options) {
  auto running = start_fetch(nodes, peer, std::move(options));
  BOOST_REQUIRE(comes_true(
      [&] { return nodes.requester().memory().outstanding_bytes() > 0 || ready(running); }));
  BOOST_REQUIRE(!ready(running));
  return running;
}

inline void close(TwoNodes& nodes, Peer& peer) {
  asio::co_spawn(nodes.requester().executor(), peer.close(), asio::use_future).get();
}

}  // namespace corail::test
