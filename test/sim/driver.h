#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/exec/task_scope.h"
#include "engine/read/block_view.h"
#include "rpc/options.h"
#include "test/sim/link.h"
#include "test/sim/seed_result.h"
#include "test/sim/sim_node.h"

namespace corail::sim {

/// The users of the nodes: savers, readers, and whoever pulls cables. Everything they do is drawn
/// from one source of randomness. Home executor only.
class Driver {
 public:
  Driver(SimSetup setup, std::vector<std::unique_ptr<SimNode>>& nodes);
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  void start();
  bool done() const noexcept { return scope_.running() == 0; }
  /// Closes every link, then the nodes.
  Task<bool> shut_down();
  /// Every view that somebody holds must still be what it was.
  void check_views();

  const SeedCounts& counts() const noexcept { return counts_; }

 private:
  struct HeldView {
    const FetchRecord* fetch = nullptr;
    const BlockView* view = nullptr;
  };

  Task<void> pause();
  Task<void> sleep(Duration time);

  // driver_saves.cc
  Task<void> saver(SimNode* node);
  Task<void> save_once(SimNode* node);
  void erase_some(SimNode& node);
  /// Uses a holder's memory again as soon as a lease that is given now has lapsed.
  Task<void> reuse_after_lapse(SimNode* node);
  std::vector<BlockNumber> draw_blocks();

  // driver_reads.cc
  Task<void> reader(SimNode* node);
  Task<void> read_once(SimNode* node, Link* link);
  /// A lease, and reads of some of its lanes, one after the other or at once.
  Task<void> read_ranges(SimNode* node, Link* link);
  Task<void> read_range(BlockLease* lease, const FetchRecord* leased, Link* link,
                        EpochNumber epoch);
  void about_to_ask(SimNode& node, const FetchRecord& fetch);
  std::unique_ptr<Timer> cancel_some_time(FetchRecord& fetch, CancelToken token);
  Task<void> hold(FetchRecord* fetch, BlockView view);
  std::shared_ptr<const BlockKeys> keys_of(const FetchOrder& order) const;
  FetchOrder draw_order(const Link& link);
  TimePoint draw_deadline();
  void failed(FetchRecord& fetch, Link& link, const Error& error);

  // driver_links.cc
  Task<void> connect(SimNode* node);
  Task<void> close_link(Link* link);
  Task<void> unstick_later(Link* link, Duration after);
  Task<void> mischief(SimNode* node);
  Task<void> die_and_return(SimNode* node);
  /// Notes whose control connection the link has come to use.
  void take_wire(Link& link);
  Link& new_link(const SimNode& node);
  /// Two nodes that connect to each other have one connection.
  void check_sharing();
  /// From now on messages of the link may get lost.
  void harm(const Link& link);
  void retire(Link& link);
  void draw_stream_faults(Link& link);

  const SimSetup setup_;
  Random& random_;
  std::vector<std::unique_ptr<SimNode>>& nodes_;
  std::deque<Link> links_;
  std::array<Link*, kNodes> current_{};
  std::array<bool, kNodes> connecting_{};
  std::map<const BlockView*, HeldView> held_;
  SeedCounts counts_;
  TaskScope scope_;
};

}  // namespace corail::sim
