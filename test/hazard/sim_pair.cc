#include "test/hazard/sim_pair.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/units.h"

namespace corail::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kRails = 2;
/// By then everything that was under way when a fetch ended has arrived or been dropped.
constexpr Duration kAftermath = seconds(2);

NodePlan plan_node(const PairPlan& plan, std::uint64_t block_bytes) {
  NodePlan node;
  MockOptions port;
  port.link.bytes_per_second = plan.bytes_per_second;
  port.link.packet_bytes = 4 * kKiB;
  port.max_slice_bytes = 16 * kKiB;
  port.shared_fence = plan.shared_fence;
  node.ports.assign(kRails, port);
  node.options.max_read_bytes = port.max_slice_bytes;
  node.options.window_bytes = 4 * port.max_slice_bytes;
  node.options.call_deadline = milliseconds(300);
  // Far enough apart that a test meets few of them.
  node.options.keep_alive = seconds(10);
  node.options.fence_deadline = milliseconds(40);
  node.options.lease_ttl = plan.lease_ttl;
  node.options.lease_margin = plan.lease_margin;
  node.pool.slab_bytes = 2 * kMiB;
  node.pool.capacity_bytes = 8 * kMiB;
  node.pool.numa_nodes.clear();
  node.options.destination_bytes = node.pool.capacity_bytes;
  NodeCapacity capacity;
  capacity.bytes = 2 * kMostBlocks * block_bytes;
  node.store.nodes.push_back(capacity);
  return node;
}

Scenario scenario_of(const PairPlan& plan) {
  Scenario scenario;
  std::vector<Slot> slots(2);
  for (Slot& slot : slots) slot = Slot{8 * kKiB, 8 * kKiB, 0};
  auto layout = Layout::make(std::move(slots));
  CORAIL_CHECK(layout, "the pair's layout is valid");
  scenario.layout = std::make_shared<const Layout>(std::move(*layout));
  for (std::size_t i = 0; i < kNodes; ++i) {
    scenario.nodes.push_back(plan_node(plan, scenario.layout->block_bytes()));
  }
  scenario.nodes.front().scripts = plan.scripts;
  scenario.control_latency = microseconds(50);
  scenario.control_buffer_bytes = 16 * kKiB;
  return scenario;
}

std::shared_ptr<const BlockKeys> keys_of(std::uint32_t blocks) {
  auto keys = std::make_shared<BlockKeys>();
  keys->name_space = name_space_of(0);
  for (BlockNumber block = 0; block < blocks; ++block) keys->hashes.push_back(hash_of(block));
  return keys;
}

}  // namespace

SimPair::SimPair(const PairPlan& plan)
    : journal_(world_.clock(), false),
      scenario_(scenario_of(plan)),
      blocks_(plan.blocks),
      model_(journal_, world_.clock(), scenario_.layout, kNodes),
      keys_(keys_of(plan.blocks)) {
  // As the simulation has it: telling the owner and fencing, closing the rail, giving back.
  model_.set_grace(3 * scenario_.nodes.front().options.fence_deadline + milliseconds(5));
  const SimSetup setup{world_, random_, net_, model_, Plant::kNone, scenario_};
  for (std::size_t i = 0; i < kNodes; ++i) {
    nodes_[i] = std::make_unique<SimNode>(setup, i);
    CORAIL_CHECK(world_.run(nodes_[i]->start()), "mock doors open");
  }
  for (std::size_t i = 0; i < kNodes; ++i) nodes_[i]->meet(*nodes_[(i + 1) % kNodes]);
  save();
  link_.holder = 1;
  link_.faults.random = &random_;
  LinkRecord& record = model_.links().emplace_back();
  record.holder = link_.holder;
  record.begin = world_.now();
  record.faithful = true;
  const auto connected = world_.run(requester().connect(link_, holder()));
  CORAIL_CHECK(connected, "nothing has gone wrong yet");
  census_.take();
  census_.add("leases", [this] { return holder().store().stats().leases; });
  census_.add("bytes of chunks that are not in quarantine", [this] {
    return requester().pool().outstanding_bytes() - requester().pool().quarantined_bytes();
  });
  census_.add("slices in flight or being served", [this] {
    std::uint64_t slices = 0;
    for (const FetchRecord& fetch : model_.fetches()) {
      slices += fetch.in_flight + fetch.admitted.size();
    }
    return slices;
  });
}

SimPair::~SimPair() {
  if (!closed_) close();
}

void SimPair::save() {
  const Layout& layout = *scenario_.layout;
  const std::vector<std::string_view> hashes(keys_->hashes.begin(), keys_->hashes.end());
  const std::vector<std::int32_t> numa{0};
  SaveRequest request;
  request.name_space = keys_->name_space;
  request.layout = holder().store().intern(layout);
  request.hashes = hashes;
  request.part_numa = numa;
  auto save = holder().store().begin(request);
  CORAIL_CHECK(save, "the store has room");
  HeldContent& content = model_.content(1);
  const std::uint32_t version = content.next_version();
  for (BlockNumber block = 0; block < blocks_; ++block) {
    for (std::uint32_t lane = 0; lane < layout.lanes(); ++lane) {
      content.write(save->writable(block, lane), block, version, lane);
    }
  }
  const bool saved = save->put_part(0).ok() && save->seal().ok();
  CORAIL_CHECK(saved, "every lane was written");
  for (BlockNumber block = 0; block < blocks_; ++block) {
    content.saved(block, version, world_.now());
  }
}

SimPair::Fetch SimPair::start(FetchOptions options) {
  Fetch fetch;
  FetchOrder order;
  for (BlockNumber block = 0; block < blocks_; ++block) order.blocks.push_back(block);
  order.verified = true;
  order.deadline = world_.now() + options.deadline;
  fetch.record = &model_.begin_fetch(0, ReadId(link_.next_read++), std::move(order));
  options.cancel = fetch.token;
  fetch.outcome = world_.start(this->fetch(fetch.record, std::move(options)));
  return fetch;
}

Task<Result<ReadReport>> SimPair::fetch(FetchRecord* record, FetchOptions options) {
  const auto peer = link_.peer;
  auto view = co_await peer->fetch_blocks(scenario_.layout, keys_, std::move(options));
  if (!view) {
    model_.on_failure(*record, view.error());
    co_return std::move(view).error();
  }
  model_.on_success(*record, *view);
  ReadReport report = view->report();
  *view = BlockView();
  model_.destinations(0).give_back(record->number);
  co_return report;
}

void SimPair::cancel(Fetch& fetch) {
  if (!fetch.ended()) fetch.record->cancelled = world_.now();
  fetch.token.cancel();
}

const Result<ReadReport>& SimPair::finish(Fetch& fetch) {
  while (!fetch.ended()) CORAIL_CHECK(world_.step(), "a fetch that runs waits for something");
  return fetch.result();
}

void SimPair::kill_holder() {
  model_.links().front().faithful = false;
  link_.cut();
  holder().shut_doors();
}

Task<bool> SimPair::close_all() {
  const auto peer = link_.peer;
  co_await peer->close();
  link_.peer.reset();
  for (const auto& node : nodes_) co_await node->close();
  co_return true;
}

std::string SimPair::close() {
  closed_ = true;
  model_.links().front().faithful = false;
  requester().unstick(link_.number);
  world_.run(close_all());
  world_.run_for(kAftermath);
  for (BlockNumber block = 0; block < blocks_; ++block) {
    holder().store().erase(name_space_of(block), hash_of(block));
  }
  for (std::size_t node = 0; node < kNodes; ++node) model_.destinations(node).check();
  std::string words = difference();
  const auto complain = [&words](const std::string& what) {
    words += (words.empty() ? "" : "; ") + what;
  };
  const StoreStats stats = holder().store().stats();
  if (stats.free_bytes != stats.capacity_bytes) {
    complain(fmt::format("{} bytes of the store are pinned or leased",
                         stats.capacity_bytes - stats.free_bytes));
  }
  if (holder().sessions() > 0) complain(fmt::format("{} sessions are left", holder().sessions()));
  TimePoint next;
  if (world_.clock().next_due(next)) complain("a timer is left");
  if (journal_.violation()) {
    complain(fmt::format("I{} is broken: {}", journal_.violation()->invariant,
                         journal_.violation()->what));
  }
  return words;
}

}  // namespace corail::sim
