#include "test/sim/sim_node.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/memory_stream.h"
#include "rpc/session_client.h"

namespace corail::sim {
namespace {

/// How much longer the planted slow clock lets a lease live.
constexpr Duration::rep kSlowness = 20;
constexpr std::uint32_t kPaddingPerSegment = 8;  // frames
/// How many times the planted window is too wide.
constexpr std::uint64_t kWideness = 4;

/// The tries to get arenas in the wanted order.
constexpr std::size_t kMostPlacements = 16;

/// Whether the newest `arenas` regions descend in memory and touch, as the kernel places them as a
/// rule.
bool in_order(const RegionTable& table, std::size_t arenas) {
  std::vector<Region> regions(table.regions().begin(), table.regions().end());
  std::sort(regions.begin(), regions.end(),
            [](const Region& a, const Region& b) { return a.id > b.id; });
  for (std::size_t i = 1; i < std::min(arenas, regions.size()); ++i) {
    if (regions[i - 1].base + regions[i - 1].length != regions[i].base) return false;
  }
  return true;
}

NodeOptions told_options(const NodePlan& plan, Plant plant) {
  NodeOptions options = plan.options;
  if (plant == Plant::kWideWindow) options.window_bytes *= kWideness;
  return options;
}

}  // namespace

SimNode::SimNode(SimSetup setup, std::size_t index)
    : setup_(setup),
      index_(index),
      plan_(setup.scenario.nodes[index]),
      scripts_(plan_.scripts),
      options_(told_options(plan_, setup.plant)),
      home_(fmt::format("home-{}", index), setup.world.context()),
      slow_clock_(setup.world.clock(), kSlowness),
      late_clock_(setup.world.clock(), setup.random, plan_.lease_timers_late),
      lease_clock_(setup.plant == Plant::kSlowLease ? static_cast<Clock&>(slow_clock_)
                                                    : late_clock_),
      identity_{NodeId(index + 1), BootId(setup.random.next()), fmt::format("node-{}", index)},
      pool_(plan_.pool) {
  make_ports();
  make_store();
  store_gate_ = std::make_unique<StoreGate>(*store_);
  planted_gate_ = std::make_unique<PlantedGate>(*store_gate_, registry_, setup_.plant);
  gate_ = std::make_unique<ObservingGate>(*planted_gate_, setup_.model, index_);
  port_host_ =
      std::make_unique<PortHost>(home_.asio_executor(), ports_, gate_.get(), setup_.random);
  host_ = std::make_unique<ObservingHost>(*port_host_, setup_.model,
                                          [this] { return other_->connecting_; });
  const SessionServices services{identity_, setup_.world.clock(), registry_, *host_, store_.get()};
  RpcServerOptions server;
  server.session.connection.keep_alive = options_.keep_alive;
  server_ = std::make_unique<RpcServer>(home_.asio_executor(), services, server);
}

void SimNode::make_store() {
  // A plan goes by addresses, so the same seed is the same run only where the arenas lie in the
  // same order; where the kernel puts them is its own business.
  std::vector<std::unique_ptr<BlockStore>> misplaced;
  for (std::size_t i = 0; i < kMostPlacements; ++i) {
    store_ = std::make_unique<BlockStore>(plan_.store, registry_, lease_clock_,
                                          home_.asio_executor(), identity_.boot);
    if (in_order(*registry_.snapshot(), plan_.store.nodes.size())) break;
    misplaced.push_back(std::move(store_));
  }
  // Rather another run than none.
  if (store_ == nullptr) std::swap(store_, misplaced.back());
  misplaced.clear();
  setup_.model.publish(index_, registry_.snapshot()->regions());
}

void SimNode::make_ports() {
  for (std::size_t i = 0; i < plan_.ports.size(); ++i) {
    asio::io_context& context = setup_.world.add_context();
    rail_executors_.push_back(
        std::make_unique<Executor>(fmt::format("rail-{}-{}", index_, i), context));
    ports_.push_back(make_port(i, nullptr));
  }
}

/// Without a link it is good for doors only.
std::unique_ptr<Port> SimNode::make_port(std::size_t index, Link* link) {
  Executor& executor = *rail_executors_[index];
  PlantSite site;
  site.plant = setup_.plant;
  site.own = executor.asio_executor();
  site.home = home_.asio_executor();
  site.region_bytes = [this](RegionId region) {
    return setup_.model.region_bytes(other_->index_, region);
  };
  const MockOptions& options = plan_.ports[index];
  const SimDevice::Surroundings around{executor.context(),
                                       setup_.world.clock(),
                                       setup_.random,
                                       setup_.net,
                                       setup_.model,
                                       rails_,
                                       handles_.emplace_back(),
                                       std::move(site),
                                       [this, index, link] {
                                         CORAIL_CHECK(link != nullptr, "a rail has a link");
                                         return draw_rail(index, *link);
                                       }};
  const std::string address = fmt::format("node{}.port{}", index_, index);
  auto device = std::make_unique<SimDevice>(around, options, address);
  return Port::over(PortIndex(static_cast<std::uint32_t>(index)), "mock:" + address, executor,
                    setup_.world.clock(), std::move(device));
}

RailDraw SimNode::draw_rail(std::size_t port, Link& link) {
  RailDraw draw;
  draw.link = link.number;
  // With what reads that have nothing in flight may post although it is full.
  draw.window = plan_.options.window_bytes + plan_.options.window_bytes / kWindowParts;
  const Scenario& scenario = setup_.scenario;
  if (port < scripts_.size()) {
    draw.script = std::exchange(scripts_[port], FaultScript());
  } else if (draw_chance(setup_.random, scenario.faulty_rails)) {
    draw.script = draw_faults(setup_.random);
  }
  plant_faults(setup_.plant, setup_.random, draw.script);
  // What no device ever says, only checksums can tell.
  if (draw.script.find(FaultKind::kFlip) != nullptr) link.must_verify = true;
  if (draw.script.find(FaultKind::kShort) != nullptr && !plan_.ports[port].reports_landing) {
    link.must_verify = true;
  }
  return draw;
}

Task<Result<void>> SimNode::start() {
  auto opened = co_await port_host_->open();
  co_return opened;
}

std::vector<std::byte> SimNode::padding(std::span<const std::byte> written) const {
  std::vector<std::byte> more;
  if (setup_.plant != Plant::kPadding || written.size() < kFrameHeaderBytes) return more;
  const auto header = decode_header(written.first<kFrameHeaderBytes>());
  const bool answer = header && header->kind == FrameKind::kAnswerEnd &&
                      header->method == Method::kQueryBlocksForTransfer;
  if (!answer) return more;
  const std::uint32_t segments = setup_.scenario.layout->lanes() * kMostBlocks;
  FrameHeader pong;
  pong.kind = FrameKind::kPong;
  const auto bytes = encode_header(pong);
  for (std::uint32_t i = 0; i < segments * kPaddingPerSegment; ++i) {
    more.insert(more.end(), bytes.begin(), bytes.end());
  }
  return more;
}

std::unique_ptr<ByteStream> SimNode::dial(Link& link, SimNode& holder) {
  const asio::any_io_executor home = home_.asio_executor();
  Clock& clock = setup_.world.clock();
  MemoryStreamOptions stream;
  stream.buffer_bytes = setup_.scenario.control_buffer_bytes;
  stream.latency = setup_.scenario.control_latency;
  stream.clock = &clock;
  MemoryStreamPair pair = make_stream_pair(home, stream);
  link.cut = pair.cut;
  WireEars& ears = ears_.emplace_back(
      setup_.model, link.number, std::min(options_.keep_alive, holder.options_.keep_alive),
      [this] { return connecting_; }, [&holder] { return holder.connecting_; });
  StreamEars accepted = ears.accepted();
  accepted.append = [&holder](std::span<const std::byte> written) {
    return holder.padding(written);
  };
  holder.server_->adopt(std::make_unique<FaultyStream>(home, clock, std::move(pair.right),
                                                       link.faults, std::move(accepted)));
  return std::make_unique<FaultyStream>(home, clock, std::move(pair.left), link.faults,
                                        ears.dialed());
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<void>> SimNode::connect(Link& link, SimNode& holder) {
  connecting_ = link.number;
  const asio::any_io_executor home = home_.asio_executor();
  Clock& clock = setup_.world.clock();
  auto stream = dial(link, holder);
  const TimePoint deadline = clock.now() + options_.call_deadline;
  Result<std::unique_ptr<SessionClient>> session;
  if (setup_.scenario.shared_sessions) {
    session = co_await server_->connect(std::move(stream), deadline);
  } else {
    ClientOptions client;
    client.identity = identity_;
    client.connection.keep_alive = options_.keep_alive;
    session = co_await SessionClient::connect(home, clock, std::move(stream), std::move(client),
                                              deadline);
  }
  if (!session) co_return std::move(session).error();
  std::vector<std::unique_ptr<Port>>& ports = link_ports_.emplace_back();
  for (std::size_t i = 0; i < plan_.ports.size(); ++i) ports.push_back(make_port(i, &link));
  const PeerContext context{home, clock, options_, pool_, home, ports, connects_};
  auto peer = std::make_shared<ConnectedPeer>(context, std::move(*session));
  link.peer = peer;
  auto opened = co_await peer->open(deadline);
  link.connected = opened.ok();
  if (!opened) link.peer.reset();
  co_return opened;
}
#pragma GCC diagnostic pop

Task<void> SimNode::close() {
  co_await server_->close();
  co_await port_host_->close();
}

void SimNode::shut_doors() {
  for (const DeviceHandles& handles : handles_) {
    if (handles.door != nullptr) handles.door->shut();
  }
}

void SimNode::open_doors() {
  for (const DeviceHandles& handles : handles_) {
    if (handles.door != nullptr) CORAIL_CHECK(handles.door->open(), "its address is its own");
  }
}

void SimNode::unstick(std::size_t link) {
  for (const DeviceHandles& handles : handles_) handles.unstick(link);
}

}  // namespace corail::sim
