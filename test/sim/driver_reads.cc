// The readers of a simulated node.
#include <algorithm>
#include <utility>

#include "test/sim/driver.h"

namespace corail::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kAmpleTime = seconds(30);
constexpr Duration kShortTime = milliseconds(15);
/// A cancel comes this soon, or later than most fetches take.
constexpr Duration kCancelWithin = milliseconds(12);
/// Of a hundred fetches, how many have a block in their prefix that nobody ever saves.
constexpr std::uint32_t kUnknownBlocks = 15;
/// How long fetches wait for blocks: savers save several times meanwhile.
constexpr Duration kWaitAtMost = milliseconds(20);
/// A lease that is of use for so long is renewed at half of it with time to spare for the messages.
constexpr Duration kRenewable = std::chrono::milliseconds(40);
/// Of a hundred fetches with a short lease, after how many the holder reuses its memory at once.
constexpr std::uint32_t kReuses = 30;
/// Of a hundred fetches, how many read ranges of lanes under one lease.
constexpr std::uint32_t kByRanges = 30;

}  // namespace

Task<void> Driver::reader(SimNode* node) {
  for (std::uint32_t i = 0; i < setup_.scenario.reads; ++i) {
    co_await pause();
    if (current_[node->index()] == nullptr) co_await connect(node);
    Link* const link = current_[node->index()];
    if (link == nullptr) continue;
    const bool by_ranges = draw_chance(random_, kByRanges);
    if (by_ranges) {
      co_await read_ranges(node, link);
    } else {
      co_await read_once(node, link);
    }
  }
}

FetchOrder Driver::draw_order(const Link& link) {
  FetchOrder order;
  order.blocks = draw_blocks();
  if (draw_chance(random_, kUnknownBlocks)) {
    const auto unknown = static_cast<BlockNumber>(kBlocks + random_.below(kBlocks));
    order.blocks[random_.below(order.blocks.size())] = unknown;
  }
  // Half of the reads go without checksums, so that those do not hide what else is wrong.
  order.verified = draw_chance(random_, 50) || link.must_verify;
  const NodeOptions& options = nodes_[link.node]->plan().options;
  order.renewable = options.lease_margin >= Duration::zero() &&
                    options.lease_ttl - options.lease_margin >= kRenewable;
  order.deadline = draw_deadline();
  return order;
}

TimePoint Driver::draw_deadline() {
  const bool hurried = draw_chance(random_, setup_.scenario.short_deadlines);
  return setup_.world.now() + (hurried ? draw_time(random_, kShortTime) : kAmpleTime);
}

void Driver::about_to_ask(SimNode& node, const FetchRecord& fetch) {
  setup_.model.journal().event("fetch {} of node {} over link {}: read {} epoch {}, {} blocks{}",
                               fetch.number, node.index(), fetch.link, fetch.read.value(),
                               fetch.epoch.value(), fetch.order.blocks.size(),
                               fetch.order.verified ? ", verified" : "");
  ++counts_.fetches;
  if (setup_.scenario.short_leases && draw_chance(random_, kReuses)) {
    scope_.spawn(reuse_after_lapse(nodes_[fetch.holder].get()));
  }
}

std::unique_ptr<Timer> Driver::cancel_some_time(FetchRecord& fetch, CancelToken token) {
  auto canceller = setup_.world.clock().make_timer(setup_.world.executor());
  if (!draw_chance(random_, setup_.scenario.cancels)) return canceller;
  const TimePoint when = setup_.world.now() + draw_time(random_, kCancelWithin);
  canceller->wait_until(when, [this, &fetch, token](bool) mutable {
    setup_.model.journal().event("fetch {} is cancelled", fetch.number);
    fetch.cancelled = setup_.world.now();
    token.cancel();
  });
  return canceller;
}

std::shared_ptr<const BlockKeys> Driver::keys_of(const FetchOrder& order) const {
  auto keys = std::make_shared<BlockKeys>();
  const auto known = std::find_if(order.blocks.begin(), order.blocks.end(),
                                  [](BlockNumber block) { return block < kBlocks; });
  keys->name_space = name_space_of(known == order.blocks.end() ? 0 : *known);
  for (const BlockNumber block : order.blocks) keys->hashes.push_back(hash_of(block));
  return keys;
}

Task<void> Driver::read_once(SimNode* node, Link* link) {
  const FetchOrder order = draw_order(*link);
  const auto keys = keys_of(order);
  const auto peer = link->peer;
  FetchOptions options;
  options.integrity = order.verified ? Integrity::kXxh3 : Integrity::kNone;
  options.deadline = order.deadline - setup_.world.now();
  if (draw_chance(random_, setup_.scenario.waits)) {
    options.wait_for_blocks = draw_time(random_, kWaitAtMost);
  }
  CancelToken token;
  if (setup_.plant != Plant::kDeafCancel) options.cancel = token;
  FetchRecord& fetch = setup_.model.begin_fetch(link->number, ReadId(link->next_read++), order);
  about_to_ask(*node, fetch);
  auto canceller = cancel_some_time(fetch, token);
  auto view = co_await peer->fetch_blocks(setup_.scenario.layout, keys, options);
  canceller.reset();
  if (!view) {
    failed(fetch, *link, view.error());
    co_return;
  }
  ++counts_.successes;
  counts_.bytes += view->bytes();
  co_await hold(&fetch, std::move(*view));
}

void Driver::failed(FetchRecord& fetch, Link& link, const Error& error) {
  ++counts_.failures[std::string(to_string(error.code()))];
  setup_.model.on_failure(fetch, error);
  if (setup_.scenario.calm && error.code() != Errc::kNotFound) {
    setup_.model.journal().violate(
        8, fmt::format("nothing goes wrong here, and fetch {} failed: {}", fetch.number,
                       error.to_string()));
  }
  const bool lost = error.error_class() == ErrorClass::kTransport || error.code() == Errc::kStuck;
  if (lost && !link.retired && draw_chance(random_, 80)) retire(link);
}

Task<void> Driver::hold(FetchRecord* fetch, BlockView view) {
  setup_.model.on_success(*fetch, view);
  HeldView held;
  held.fetch = fetch;
  held.view = &view;
  held_[&view] = held;
  co_await pause();
  setup_.model.check_view(*fetch, view);
  held_.erase(&view);
  view = BlockView();
  setup_.model.destinations(fetch->node).give_back(fetch->number);
}

}  // namespace corail::sim
