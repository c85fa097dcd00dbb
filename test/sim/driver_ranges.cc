// Readers that lease a prefix and read it by ranges of lanes.
#include <utility>

#include "engine/exec/task_scope.h"
#include "test/sim/driver.h"

namespace corail::sim {
namespace {

/// At most how many ranges are read under one lease.
constexpr std::uint64_t kRanges = 4;

}  // namespace

Task<void> Driver::read_ranges(SimNode* node, Link* link) {
  const FetchOrder order = draw_order(*link);
  const auto keys = keys_of(order);
  const auto peer = link->peer;
  FetchOptions options;
  options.deadline = order.deadline - setup_.world.now();
  FetchRecord& fetch = setup_.model.begin_lease(link->number, ReadId(link->next_read++), order);
  about_to_ask(*node, fetch);
  auto lease = co_await peer->lease_blocks(setup_.scenario.layout, keys, options);
  if (!lease) {
    failed(fetch, *link, lease.error());
    co_return;
  }
  ++counts_.successes;
  setup_.model.on_leased(fetch);
  const bool at_once = draw_chance(random_, 50);
  const std::uint64_t ranges = draw_between(random_, 1, kRanges);
  TaskScope reads(setup_.world.executor());
  for (std::uint64_t i = 0; i < ranges; ++i) {
    const EpochNumber epoch(2 * i + 1);
    if (at_once) {
      reads.spawn(read_range(lease->get(), &fetch, link, epoch));
    } else {
      co_await read_range(lease->get(), &fetch, link, epoch);
      co_await pause();
    }
  }
  co_await reads.join();
  co_await (*lease)->close();
  setup_.model.on_lease_closed(fetch);
}

Task<void> Driver::read_range(BlockLease* lease, const FetchRecord* leased, Link* link,
                              EpochNumber epoch) {
  FetchOrder order = leased->order;
  const std::uint32_t lanes = setup_.scenario.layout->lanes();
  order.lanes.begin = static_cast<std::uint32_t>(random_.below(lanes));
  order.lanes.end = static_cast<std::uint32_t>(draw_between(random_, order.lanes.begin + 1, lanes));
  order.deadline = draw_deadline();
  FetchOptions options;
  options.integrity = order.verified ? Integrity::kXxh3 : Integrity::kNone;
  options.deadline = order.deadline - setup_.world.now();
  CancelToken token;
  if (setup_.plant != Plant::kDeafCancel) options.cancel = token;
  const LaneRange range = order.lanes;
  FetchRecord& fetch = setup_.model.begin_range(*leased, epoch, std::move(order));
  setup_.model.journal().event("fetch {} reads lanes {} to {} under the lease of fetch {}",
                               fetch.number, range.begin, range.end, leased->number);
  ++counts_.fetches;
  auto canceller = cancel_some_time(fetch, token);
  auto view = co_await lease->read(range, options);
  canceller.reset();
  if (!view) {
    failed(fetch, *link, view.error());
    co_return;
  }
  ++counts_.successes;
  counts_.bytes += view->bytes();
  co_await hold(&fetch, std::move(*view));
}

}  // namespace corail::sim
