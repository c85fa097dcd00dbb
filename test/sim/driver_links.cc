// The links between simulated nodes, and what befalls them.
#include <utility>

#include "test/sim/driver.h"

namespace corail::sim {
namespace {

using std::chrono::milliseconds;

/// A device that does not close comes back within this time, at most.
constexpr Duration kStuckTime = milliseconds(60);
constexpr Duration kLatest = milliseconds(10);  // of a control message
constexpr std::uint32_t kMishaps = 4;           // of a node, at most
constexpr Duration kBetweenMishaps = milliseconds(20);

}  // namespace

Link& Driver::new_link(const SimNode& node) {
  Link& link = links_.emplace_back();
  link.number = links_.size() - 1;
  link.node = node.index();
  link.holder = (node.index() + 1) % kNodes;
  link.wire = link.number;
  LinkRecord& record = setup_.model.links().emplace_back();
  record.node = link.node;
  record.holder = link.holder;
  record.wire = link.wire;
  record.begin = setup_.world.now();
  ++counts_.links;
  draw_stream_faults(link);
  return link;
}

void Driver::draw_stream_faults(Link& link) {
  const Scenario& scenario = setup_.scenario;
  // A release is waited for as long as a fence; where that is shorter than a round trip, nobody
  // knows.
  const Duration round_trip = 2 * scenario.control_latency;
  bool faithful = scenario.nodes[link.node].options.fence_deadline > 2 * round_trip;
  link.faults.random = &random_;
  if (draw_chance(random_, scenario.late_streams)) {
    link.faults.late_one_in = static_cast<std::uint32_t>(draw_between(random_, 1, 8));
    link.faults.max_delay = draw_time(random_, kLatest);
    faithful = false;
  }
  if (draw_chance(random_, scenario.flipping_streams)) {
    link.faults.flip_one_in = static_cast<std::uint32_t>(draw_between(random_, 3, 40));
    link.must_verify = true;
    faithful = false;
  }
  setup_.model.links()[link.number].faithful = faithful;
  link.faults.on_flip = [this, number = link.number] {
    setup_.model.journal().event("a bit of link {} is flipped", number);
    setup_.model.links()[number].corrupt = true;
  };
}

Task<void> Driver::connect(SimNode* node) {
  bool& connecting = connecting_[node->index()];
  if (connecting) co_return;
  connecting = true;
  Link& link = new_link(*node);
  scope_.spawn(unstick_later(&link, node->plan().options.call_deadline));
  auto connected = co_await node->connect(link, *nodes_[link.holder]);
  connecting = false;
  setup_.model.journal().event("link {} of node {}: {}", link.number, node->index(),
                               connected.ok() ? "connected" : connected.error().to_string());
  if (connected) take_wire(link);
  if (connected) current_[node->index()] = &link;
  if (connected || !setup_.scenario.calm) co_return;
  setup_.model.journal().violate(8, fmt::format("nothing goes wrong here, and link {} failed: {}",
                                                link.number, connected.error().to_string()));
}

Task<void> Driver::unstick_later(Link* link, Duration after) {
  co_await sleep(after);
  // Whoever is connected may have rails whose devices stay stuck for as long as the fault wants.
  if (link->connected && !link->retired) co_return;
  nodes_[link->node]->unstick(link->number);
}

void Driver::take_wire(Link& link) {
  link.wire = setup_.model.links()[link.number].wire;
  if (link.wire == link.number) return;
  const Link& wire = links_[link.wire];
  link.cut = wire.cut;
  if (wire.faults.flip_one_in > 0) link.must_verify = true;
  ++counts_.shared;
}

void Driver::harm(const Link& link) { setup_.model.wire_of(link.number).faithful = false; }

void Driver::retire(Link& link) {
  link.retired = true;
  harm(link);
  if (current_[link.node] == &link) current_[link.node] = nullptr;
  scope_.spawn(close_link(&link));
  const Duration stuck = draw_time(random_, kStuckTime);
  scope_.spawn(unstick_later(&link, stuck));
}

Task<void> Driver::close_link(Link* link) {
  setup_.model.journal().event("link {} is closed", link->number);
  const auto peer = link->peer;
  co_await peer->close();
  link->peer.reset();
}

Task<void> Driver::mischief(SimNode* node) {
  for (std::uint32_t i = 0; i < kMishaps; ++i) {
    const Duration wait = draw_time(random_, kBetweenMishaps);
    co_await sleep(wait);
    if (!draw_chance(random_, setup_.scenario.mishaps)) continue;
    const std::uint64_t kind = random_.below(4);
    Link* const link = current_[node->index()];
    if (kind == 0) co_await die_and_return(node);
    if (kind == 0 || link == nullptr) continue;
    setup_.model.journal().event("mishap {} befalls link {}", kind, link->number);
    harm(*link);
    if (kind == 1) link->cut();
    if (kind == 2) links_[link->wire].faults.silent_from = setup_.world.now();
    if (kind == 3 && !link->retired) retire(*link);
  }
}

Task<void> Driver::die_and_return(SimNode* node) {
  setup_.model.journal().event("node {} dies", node->index());
  for (Link& link : links_) {
    if (link.holder != node->index() || !link.cut) continue;
    harm(link);
    link.cut();
  }
  node->shut_doors();
  co_await pause();
  node->open_doors();
  setup_.model.journal().event("node {} is back", node->index());
}

void Driver::check_sharing() {
  if (!setup_.scenario.calm || !setup_.scenario.shared_sessions) return;
  for (const auto& node : nodes_) {
    if (node->sessions() == 1) continue;
    setup_.model.journal().violate(
        8, fmt::format("nothing went wrong here, and node {} has {} sessions where both connected "
                       "once",
                       node->index(), node->sessions()));
  }
}

Task<bool> Driver::shut_down() {
  check_sharing();
  for (Link& link : links_) {
    if (link.connected && !link.retired) retire(link);
  }
  co_await scope_.join();
  for (const auto& node : nodes_) co_await node->close();
  co_return true;
}

}  // namespace corail::sim
