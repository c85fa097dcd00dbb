#include "test/sim/objects/node.h"

#include <fmt/core.h>

#include <utility>

#include "engine/exec/memory_stream.h"
#include "engine/rail/rail_options.h"
#include "test/sim/scenario.h"

namespace corail::sim {
namespace {

/// How much longer the planted slow clock lets a lease live.
constexpr Duration::rep kSlowness = 20;

}  // namespace

const ObjectNodePlan& ObjectNode::plan() const noexcept {
  return index_ == kHolder ? setup_.scenario.holder : setup_.scenario.user;
}

ObjectNode::ObjectNode(const ObjectSetup& setup, std::size_t index)
    : setup_(setup),
      index_(index),
      home_(fmt::format("home-{}", index), setup.world.context()),
      slow_clock_(setup.world.clock(), kSlowness),
      late_clock_(setup.world.clock(), setup.random, setup.scenario.lease_timers_late),
      identity_{NodeId(index + 1), BootId(setup.random.next()), fmt::format("node-{}", index)},
      pool_(plan().pool) {
  make_ports();
}

void ObjectNode::make_ports() {
  for (std::size_t i = 0; i < plan().ports.size(); ++i) {
    asio::io_context& context = setup_.world.add_context();
    rail_executors_.push_back(
        std::make_unique<Executor>(fmt::format("rail-{}-{}", index_, i), context));
    ports_.push_back(make_port(i, nullptr));
  }
}

/// Without a link its rails are those that pull.
std::unique_ptr<Port> ObjectNode::make_port(std::size_t index, ObjectLink* link) {
  Executor& executor = *rail_executors_[index];
  PlantSite site;
  site.plant = setup_.plant;
  site.own = executor.asio_executor();
  site.home = home_.asio_executor();
  const SimDevice::Surroundings around{executor.context(),
                                       setup_.world.clock(),
                                       setup_.random,
                                       setup_.net,
                                       setup_.model,
                                       rails_,
                                       handles_.emplace_back(),
                                       std::move(site),
                                       [this, index, link] { return draw_rail(index, link); }};
  const std::string address = fmt::format("node{}.port{}", index_, index);
  auto device = std::make_unique<SimDevice>(around, plan().ports[index], address);
  return Port::over(PortIndex(static_cast<std::uint32_t>(index)), "mock:" + address, executor,
                    setup_.world.clock(), std::move(device));
}

RailDraw ObjectNode::draw_rail(std::size_t port, ObjectLink* link) {
  RailDraw draw;
  draw.link = link == nullptr ? kPullingLink : link->number;
  // With what reads that have nothing in flight may post although it is full.
  const std::uint64_t window = plan().options.window_bytes;
  draw.window = window + window / kWindowParts;
  if (draw_chance(setup_.random, setup_.scenario.faulty_rails)) {
    draw.script = draw_faults(setup_.random);
  }
  plant_faults(setup_.plant, setup_.random, draw.script);
  // What no device ever says, only checksums can tell; what is pulled has them always.
  const bool short_unseen =
      draw.script.find(FaultKind::kShort) != nullptr && !plan().ports[port].reports_landing;
  const bool flips = draw.script.find(FaultKind::kFlip) != nullptr;
  if (link != nullptr && (short_unseen || flips)) link->must_verify = true;
  return draw;
}

PeerContext ObjectNode::peer_context(std::span<const std::unique_ptr<Port>> ports) {
  const asio::any_io_executor home = home_.asio_executor();
  return PeerContext{home,    setup_.world.clock(), plan().options, pool_, home, ports, connects_,
                     nullptr, &puts_->parts()};
}

Task<Result<void>> ObjectNode::start() {
  if (index_ == kHolder) {
    const bool slow = setup_.plant == Plant::kSlowLease;
    Clock& clock = slow ? static_cast<Clock&>(slow_clock_) : late_clock_;
    HeldObjects::Surroundings around{home_.asio_executor(), clock, registry_};
    auto objects = std::make_unique<HeldObjects>(setup_, std::move(around));
    auto found = co_await objects->start(identity_);
    if (!found) {
      co_await objects->close();
      co_return found;
    }
    objects_ = std::move(objects);
    gates_ = std::make_unique<LeaseGates>(nullptr, &objects_->gate());
  }
  make_server();
  auto opened = co_await port_host_->open();
  co_return opened;
}

void ObjectNode::make_server() {
  Clock& clock = setup_.world.clock();
  NodePuts::Surroundings around{home_.asio_executor(), clock,     setup_.random,
                                plan().options,        registry_, MemoryRegistrars()};
  puts_ = std::make_unique<NodePuts>(std::move(around), gates_.get());
  peers_ = std::make_unique<NodePeers>(peer_context(ports_));
  if (objects_) puts_->take_into(objects_->store(), *peers_);
  // The memory of a put is unmapped, and not used again, so that nobody could look whether it
  // changes: pins are missing at the holder.
  const bool pinned = setup_.plant == Plant::kNoPin && index_ == kUser;
  planted_gate_ =
      std::make_unique<PlantedGate>(puts_->gate(), registry_, pinned ? Plant::kNone : setup_.plant);
  served_gate_ = std::make_unique<ServedGate>(*planted_gate_, setup_.model, index_);
  gate_ = std::make_unique<SpoilingGate>(*served_gate_, setup_.plant);
  port_host_ =
      std::make_unique<PortHost>(home_.asio_executor(), ports_, gate_.get(), setup_.random);
  host_ = std::make_unique<PushObserver>(*port_host_, setup_.model, index_, setup_.plant);
  SessionServices services{identity_, clock, registry_, *host_};
  if (objects_) services.objects = &objects_->services();
  services.puts = puts_->home();
  RpcServerOptions server;
  server.session.connection.keep_alive = plan().options.keep_alive;
  server_ = std::make_unique<RpcServer>(home_.asio_executor(), services, server);
}

std::unique_ptr<ByteStream> ObjectNode::dial(ObjectLink& link, ObjectNode& holder) {
  const asio::any_io_executor home = home_.asio_executor();
  Clock& clock = setup_.world.clock();
  MemoryStreamOptions stream;
  stream.buffer_bytes = setup_.scenario.control_buffer_bytes;
  stream.latency = setup_.scenario.control_latency;
  stream.clock = &clock;
  MemoryStreamPair pair = make_stream_pair(home, stream);
  link.cut = pair.cut;
  LeaseEars& ears = ears_.emplace_back(setup_.model, link, [this] { return connecting_; });
  holder.server_->adopt(std::make_unique<FaultyStream>(home, clock, std::move(pair.right),
                                                       link.faults, ears.receiving()));
  return std::make_unique<FaultyStream>(home, clock, std::move(pair.left), link.faults,
                                        ears.sending());
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<void>> ObjectNode::connect(ObjectLink& link, ObjectNode& holder) {
  connecting_ = &link;
  auto stream = dial(link, holder);
  const TimePoint deadline = setup_.world.now() + plan().options.call_deadline;
  auto session = co_await server_->connect(std::move(stream), deadline);
  if (!session) co_return std::move(session).error();
  std::vector<std::unique_ptr<Port>>& ports = link_ports_.emplace_back();
  for (std::size_t i = 0; i < plan().ports.size(); ++i) ports.push_back(make_port(i, &link));
  const PeerContext context = peer_context(ports);
  auto peer = std::make_shared<ConnectedPeer>(context, std::move(*session));
  auto opened = co_await peer->open(deadline);
  if (!opened) co_return opened;
  link.connected = true;
  link.peer = peer;
  peers_->add(std::move(peer));
  co_return opened;
}
#pragma GCC diagnostic pop

Task<void> ObjectNode::hang_up() {
  co_await peers_->close();
  co_await server_->close();
  co_await port_host_->close();
}

Task<void> ObjectNode::close() {
  server_.reset();
  host_.reset();
  port_host_.reset();
  peers_.reset();
  puts_.reset();
  gates_.reset();
  // What is sent without a pin may be read although it is no more: so that the model can look.
  if (objects_ && setup_.plant == Plant::kNoPin) unpinned_ = objects_->memory();
  if (objects_) co_await objects_->close();
  objects_.reset();
}

void ObjectNode::unstick(std::size_t link) {
  for (const DeviceHandles& handles : handles_) handles.unstick(link);
}

void ObjectNode::check_idle() {
  const auto expect = [this](std::uint64_t is, std::uint64_t should, const char* what) {
    if (is == should) return;
    setup_.model.journal().violate(
        0, fmt::format("node {} has {} {} at the end, {} are due", index_, is, what, should));
  };
  expect(server_->sessions(), 0, "sessions");
  expect(puts_->sources().offers(), 0, "stripes on offer");
  expect(puts_->sources().bytes_in_use(), 0, "bytes of puts in use");
  expect(pool_.outstanding_bytes(), pool_.quarantined_bytes(), "bytes of results in use");
  if (objects_) objects_->check_idle();
}

}  // namespace corail::sim
