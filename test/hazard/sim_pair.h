#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/read/read_report.h"
#include "rpc/options.h"
#include "test/sim/sim_node.h"
#include "test/support/resource_census.h"

namespace corail::sim {

/// What a test decides about its pair.
struct PairPlan {
  PairPlan() {}

  std::uint32_t blocks = 6;          // that the holder has, and that each fetch asks for
  std::vector<FaultScript> scripts;  // of the requester's rails, two of them
  bool shared_fence = true;
  std::uint64_t bytes_per_second = 125'000'000;  // of each rail
  Duration lease_ttl = std::chrono::seconds(60);
  Duration lease_margin{0};
};

/// The simulation's two nodes, connected, with nothing drawn: what one test does to the public path
/// of a read, in virtual time and under the eyes of the model. The first node asks, the second one
/// holds.
class SimPair {
 public:
  explicit SimPair(const PairPlan& plan);
  ~SimPair();
  SimPair(const SimPair&) = delete;
  SimPair& operator=(const SimPair&) = delete;

  /// A fetch that runs.
  struct Fetch {
    CancelToken token;
    FetchRecord* record = nullptr;  // what the model has seen of it
    test::VirtualWorld::Outcome<Result<ReadReport>> outcome;

    bool ended() const noexcept { return outcome->has_value(); }
    const Result<ReadReport>& result() const { return **outcome; }
  };

  /// Of all blocks. What it brings is compared and given back in the handler in which it ends.
  Fetch start(FetchOptions options);
  void cancel(Fetch& fetch);
  /// Runs to its end, and no further.
  const Result<ReadReport>& finish(Fetch& fetch);

  test::VirtualWorld& world() noexcept { return world_; }
  SimNode& requester() noexcept { return *nodes_[0]; }
  SimNode& holder() noexcept { return *nodes_[1]; }
  Link& link() noexcept { return link_; }
  /// The holder's process is gone: control connection and data channels.
  void kill_holder();

  /// Leases at the holder, slices without an outcome, bytes that are served, chunks: what of that a
  /// read has not given back, in words.
  std::string difference() const { return census_.difference(); }

  /// Closes everything, once, and says what is wrong then, in words: what the model has to say, and
  /// whatever is left anywhere.
  std::string close();

 private:
  void save();
  Task<Result<ReadReport>> fetch(FetchRecord* record, FetchOptions options);
  Task<bool> close_all();

  test::VirtualWorld world_;
  SeededRandom random_{1};
  Journal journal_;
  Scenario scenario_;
  const std::uint32_t blocks_;
  Model model_;
  MockNet net_;
  std::array<std::unique_ptr<SimNode>, kNodes> nodes_;
  Link link_;
  std::shared_ptr<const BlockKeys> keys_;
  test::ResourceCensus census_;
  bool closed_ = false;
};

}  // namespace corail::sim
