#include "rpc/node.h"

#include <asio/post.hpp>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/exec/executor.h"
#include "engine/exec/run_on.h"
#include "engine/exec/tcp_stream.h"
#include "engine/memory/region_registry.h"
#include "engine/rail/port.h"
#include "rpc/calls_under_way.h"
#include "rpc/connected_peer.h"
#include "rpc/lease_gates.h"
#include "rpc/node_memory.h"
#include "rpc/node_objects.h"
#include "rpc/node_peers.h"
#include "rpc/node_ports.h"
#include "rpc/node_puts.h"
#include "rpc/peer_connector.h"
#include "rpc/port_host.h"
#include "rpc/rpc_server.h"

namespace corail {
namespace {

Error not_running() { return {Errc::kClosed, Stage::kConnect, "the node is not running"}; }

}  // namespace

/// Members are declared in the order in which they are made; destruction reverses it. Executors
/// come first: everything else is bound to one of them.
class Node::Impl {
 public:
  Impl(NodeOptions options, Clock& clock, Random& random, asio::io_context* callers)
      : options_(std::move(options)),
        clock_(clock),
        random_(random),
        home_(callers != nullptr ? std::make_unique<Executor>("home", *callers)
                                 : std::make_unique<Executor>("home", brief_thread())),
        budget_(make_node_budget(home_->asio_executor(), clock, options_)),
        identity_{NodeId(random.next()), BootId(random.next()), options_.name},
        connecting_(home_->asio_executor()) {}

  Result<void> make_ports();
  void start_threads();
  Task<Result<void>> start();
  Task<Result<std::shared_ptr<Peer>>> connect(std::string address);
  Task<void> close();
  void stop();

  Executor& home() { return *home_; }
  BlockStore& blocks() {
    CORAIL_CHECK(store_ != nullptr, "a store exists from start() to close(), if it has memory");
    return *store_;
  }
  ObjectStore& objects() {
    CORAIL_CHECK(objects_ != nullptr,
                 "objects exist from start() to close(), if they have a place");
    return objects_->store();
  }
  NodeMemory& memory() { return *memory_; }
  RegionRegistry& regions() { return registry_; }
  std::string listen_address() const { return listen_address_; }

 private:
  Task<Result<void>> listen();
  PeerContext peer_context();
  void make_connector();
  void make_server();
  void forward_region_changes();

  const NodeOptions options_;
  Clock& clock_;
  Random& random_;
  const std::unique_ptr<Executor> home_;
  std::vector<std::unique_ptr<Executor>> rail_executors_;
  std::vector<std::unique_ptr<Port>> ports_;
  const std::shared_ptr<ConnectLimit> connects_ = std::make_shared<ConnectLimit>();
  const std::shared_ptr<ReadBudget> budget_;
  const NodeIdentity identity_;
  RegionRegistry registry_;
  std::unique_ptr<NodeMemory> memory_;
  std::unique_ptr<BlockStore> store_;
  std::unique_ptr<NodeObjects> objects_;  // null: this node holds none
  std::unique_ptr<LeaseGates> gate_;      // null: nothing at all
  std::unique_ptr<NodePuts> puts_;
  std::unique_ptr<NodePeers> peers_;
  std::unique_ptr<PortHost> host_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<PeerConnector> connector_;
  std::string listen_address_;
  /// Makes a change of regions that is on its way to home find out that the server is gone.
  const std::shared_ptr<RpcServer*> told_of_regions_ = std::make_shared<RpcServer*>(nullptr);
  CallsUnderWay connecting_;
  bool started_ = false;
  bool closed_ = false;
};

Result<void> Node::Impl::make_ports() {
  const auto specs = rail_specs_of(options_);
  if (!specs) return specs.error();
  rail_executors_ = make_rail_executors(options_, *specs);
  auto made = make_node_ports(options_, *specs, rail_executors_, clock_, random_);
  if (!made) return std::move(made).error();
  ports_ = std::move(*made);
  memory_ = std::make_unique<NodeMemory>(options_, ports_, home_->asio_executor());
  return ok_result();
}

void Node::Impl::start_threads() {
  home_->start();
  for (const auto& executor : rail_executors_) executor->start();
}

Task<Result<void>> Node::Impl::start() {
  CORAIL_CHECK(!started_, "a node is started once");
  started_ = true;
  auto store =
      make_block_store(options_, ports_, registry_, clock_, home_->asio_executor(), identity_.boot);
  if (!store) co_return std::move(store).error();
  store_ = std::move(*store);
  Result<void> made;
  if (options_.listen.empty()) {
    make_server();
    made = ok_result();
  } else {
    made = co_await listen();
  }
  if (made) make_connector();
  co_return made;
}

PeerContext Node::Impl::peer_context() {
  PeerContext context{home_->asio_executor(), clock_, options_,  memory_->pool(),
                      memory_->mapping(),     ports_, connects_, budget_,
                      &puts_->parts()};
  context.landings = &memory_->landings();
  return context;
}

void Node::Impl::make_connector() {
  connector_ = std::make_unique<PeerConnector>(
      peer_context(), identity_, server_.get(), [this](std::string address, TimePoint deadline) {
        return connect_tcp(home_->asio_executor(), clock_, std::move(address), deadline);
      });
}

/// Also where nobody can connect: those that this node connects to may have to ask it something,
/// and to read what it puts.
void Node::Impl::make_server() {
  if (store_ || objects_) {
    gate_ = std::make_unique<LeaseGates>(store_.get(), objects_ ? &objects_->gate() : nullptr);
  }
  NodePuts::Surroundings around{home_->asio_executor(), clock_, random_, options_, registry_,
                                registrars_of(ports_)};
  puts_ = std::make_unique<NodePuts>(std::move(around), gate_.get());
  peers_ = std::make_unique<NodePeers>(peer_context());
  if (objects_) puts_->take_into(objects_->store(), *peers_);
  host_ = std::make_unique<PortHost>(home_->asio_executor(), ports_, &puts_->gate(), random_);
  SessionServices services{identity_, clock_, registry_, *host_, store_.get()};
  if (objects_) services.objects = &objects_->services();
  services.puts = puts_->home();
  RpcServerOptions server;
  server.session.connection.keep_alive = options_.keep_alive;
  server_ = std::make_unique<RpcServer>(home_->asio_executor(), services, server);
  forward_region_changes();
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<void>> Node::Impl::listen() {
  // First of all the address, which objects are told to be at.
  auto listener = listen_tcp(home_->asio_executor(), options_.listen);
  if (!listener) co_return std::move(listener).error().at(Stage::kSetup);
  listen_address_ = (*listener)->local_address();
  NodeObjects::Parts parts{
      home_->asio_executor(), clock_, random_, registry_, registrars_of(ports_),
      options_.lease_ttl};
  auto objects =
      co_await NodeObjects::start(std::move(parts), options_.objects, identity_, listen_address_);
  if (!objects) co_return std::move(objects).error();
  objects_ = std::move(*objects);
  make_server();
  auto opened = co_await host_->open();
  if (!opened) co_return std::move(opened).error().at(Stage::kSetup);
  server_->listen(std::move(*listener));
  co_return ok_result();
}
#pragma GCC diagnostic pop

void Node::Impl::forward_region_changes() {
  *told_of_regions_ = server_.get();
  // Regions change on any thread; sessions live on home.
  registry_.set_listener(
      [home = home_->asio_executor(), told = told_of_regions_](TableGeneration generation) {
        asio::post(home, [told, generation] {
          if (*told != nullptr) (*told)->regions_changed(generation);
        });
      });
}

Task<Result<std::shared_ptr<Peer>>> Node::Impl::connect(std::string address) {
  if (!connector_ || closed_) co_return not_running();
  // close() may begin meanwhile. It waits for this call, which then leaves nothing open.
  const CallsUnderWay::Call connecting(connecting_);
  auto peer = co_await connector_->connect(std::move(address));
  if (!peer) co_return std::move(peer).error();
  peers_->add(*peer);
  co_return std::shared_ptr<Peer>(std::move(*peer));
}

Task<void> Node::Impl::close() {
  closed_ = true;
  if (connector_) connector_->stop();
  co_await connecting_.wait();
  if (peers_) co_await peers_->close();
  registry_.set_listener(nullptr);
  *told_of_regions_ = nullptr;
  if (server_) co_await server_->close();
  if (host_) co_await host_->close();
  connector_.reset();
  server_.reset();
  host_.reset();
  peers_.reset();
  puts_.reset();
  gate_.reset();
  if (objects_) co_await objects_->close();
  objects_.reset();
  store_.reset();
}

void Node::Impl::stop() {
  memory_->stop();
  for (const auto& executor : rail_executors_) executor->stop();
  home_->stop();
}

Result<std::unique_ptr<Node>> Node::create(NodeOptions options, Clock& clock, Random& random,
                                           asio::io_context* callers) {
  const auto checked = check_options(options);
  if (!checked) return checked.error();
  auto impl = std::make_unique<Impl>(std::move(options), clock, random, callers);
  auto made = impl->make_ports();
  if (!made) return std::move(made).error();
  impl->start_threads();
  return std::unique_ptr<Node>(new Node(std::move(impl)));
}

Node::Node(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Node::~Node() { impl_->stop(); }

asio::any_io_executor Node::executor() const { return impl_->home().asio_executor(); }

Task<Result<void>> Node::start() {
  auto result = co_await run_on(executor(), impl_->start());
  co_return result;
}

std::string Node::listen_address() const { return impl_->listen_address(); }

Task<Result<std::shared_ptr<Peer>>> Node::connect(std::string address) {
  auto result = co_await run_on(executor(), impl_->connect(std::move(address)));
  co_return result;
}

Task<Result<RegisteredMemory>> Node::register_memory(std::span<std::byte> bytes) {
  return impl_->memory().register_memory(bytes);
}

BlockStore& Node::blocks() { return impl_->blocks(); }
ObjectStore& Node::objects() { return impl_->objects(); }
SlabPool& Node::memory() { return impl_->memory().pool(); }
RegionRegistry& Node::regions() { return impl_->regions(); }

Task<void> Node::close() { co_await run_on(executor(), impl_->close()); }
void Node::stop() { impl_->stop(); }

}  // namespace corail
