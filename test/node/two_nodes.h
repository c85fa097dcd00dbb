#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "rpc/node.h"

namespace corail::test {

/// The byte at `offset` of a segment: a function of block, lane and offset, so that a shift or a
/// swap shows.
inline std::byte content(std::uint32_t block, std::uint32_t lane, std::uint64_t offset) {
  return static_cast<std::byte>(
      mix64((std::uint64_t{block} << 40) ^ (std::uint64_t{lane} << 20) ^ offset));
}

/// A clock that makes no timer while memory is said to be short.
class StarvedClock final : public Clock {
 public:
  explicit StarvedClock(Clock& clock) : clock_(clock) {}

  TimePoint now() const noexcept override { return clock_.now(); }
  std::unique_ptr<Timer> make_timer(asio::any_io_executor executor) override {
    if (starved) throw std::bad_alloc();
    return clock_.make_timer(std::move(executor));
  }

  std::atomic<bool> starved{false};

 private:
  Clock& clock_;
};

/// A holder and a requester in one process, each with threads of its own, over loopback.
class TwoNodes {
 public:
  struct Shape {
    std::uint32_t blocks = 24;
    std::uint32_t slots = 6;
    std::uint32_t segment_bytes = 4096;
    BlockOrder order = BlockOrder::kBlockMajor;
    std::uint64_t max_read_bytes = 64 * kKiB;
    std::uint64_t window_bytes = 256 * kKiB;
    Duration keep_alive = std::chrono::seconds(5);  // of the requester, as below
    Duration fence_deadline = std::chrono::seconds(20);
    std::uint64_t node_budget_bytes = 0;  // 0: no bound
    std::uint64_t peer_budget_bytes = 0;
    std::uint64_t port_budget_bytes = 0;
    Duration lease_ttl = std::chrono::seconds(120);
    Duration lease_margin = std::chrono::seconds(2);
  };

  TwoNodes(Shape shape, std::uint32_t holder_rails, std::uint32_t requester_rails);
  ~TwoNodes();

  /// Runs a coroutine on a node's executor and waits for it.
  template <typename T>
  static T run(Node& node, Task<T> task) {
    return asio::co_spawn(node.executor(), std::move(task), asio::use_future).get();
  }

  Node& holder() { return *holder_; }
  Node& requester() { return *requester_; }
  std::shared_ptr<const Layout> layout() const { return layout_; }
  std::shared_ptr<const BlockKeys> keys() const { return keys_; }
  std::shared_ptr<const BlockKeys> keys_of(std::uint32_t blocks) const;

  void save();
  Result<std::shared_ptr<Peer>> connect() { return connect_to(holder_->listen_address()); }
  Result<std::shared_ptr<Peer>> connect_to(std::string address);
  Result<BlockView> fetch(Peer& peer, std::shared_ptr<const BlockKeys> keys,
                          FetchOptions options = {});
  /// Begins a fetch of all blocks.
  std::future<Result<BlockView>> start(Peer& peer, FetchOptions options);
  void close_holder();
  /// What the holder's store counts, as of now.
  StoreStats holder_stats();
  /// Lets the requester's reads run out of memory as they begin.
  void starve_requester(bool starved) { requester_clock_.starved = starved; }
  /// Bytes of the view that differ from what was saved; of a view of some lanes, say which.
  std::uint64_t mismatches(const BlockView& view, LaneRange lanes = {}) const;

 private:
  Task<Result<void>> save_on_home();

  Shape shape_;
  SteadyClock clock_;
  StarvedClock requester_clock_{clock_};
  SeededRandom random_{7};
  SeededRandom requester_random_{8};
  std::shared_ptr<const Layout> layout_;
  std::shared_ptr<const BlockKeys> keys_;
  std::unique_ptr<Node> holder_;
  std::unique_ptr<Node> requester_;
};

}  // namespace corail::test
