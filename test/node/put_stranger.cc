#include "test/node/put_stranger.h"

#include <cstring>
#include <stdexcept>
#include <thread>
#include <utility>

#include "engine/exec/tcp_stream.h"
#include "engine/object/stripe_checksum.h"
#include "engine/rail/rail_spec.h"
#include "rpc/put_client.h"

namespace corail::test {
namespace {

constexpr Duration kPatience = std::chrono::seconds(30);

template <typename T>
T must_have(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}

Task<Result<std::unique_ptr<SessionClient>>> dial(RpcServer* server, Clock* clock,
                                                  asio::any_io_executor home, std::string address,
                                                  TimePoint deadline, ByteStream** dialed) {
  auto stream = co_await connect_tcp(home, *clock, std::move(address), deadline);
  if (!stream) co_return std::move(stream).error();
  *dialed = stream->get();
  auto client = co_await server->connect(std::move(*stream), deadline);
  co_return client;
}

Task<void> close_client(SessionClient* client) { co_await client->close(); }
Task<void> close_server(RpcServer* server) { co_await server->close(); }
Task<void> cut(ByteStream* stream) {
  stream->close();
  co_return;
}
Task<void> close_host(PortHost* host) { co_await host->close(); }

}  // namespace

/// Its rail's thread sleeps while nothing is to be served: the home cannot tell that from a path
/// that has become slow.
class PutStranger::Gate final : public LeaseGate {
 public:
  explicit Gate(PutStranger& stranger) : stranger_(stranger) {}

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override {
    ++stranger_.asked;
    while (stranger_.serve_nothing) std::this_thread::yield();
    return stranger_.sources_.admit(session, context, region, offset, length);
  }

 private:
  PutStranger& stranger_;
};

class PutStranger::Doors final : public RailHost {
 public:
  explicit Doors(PutStranger& stranger) : stranger_(stranger) {}

  Task<Result<std::vector<RailEndpoint>>> admit(SessionId session) override {
    if (stranger_.vanish_at_the_door) stranger_.stream_->close();
    auto admitted = co_await stranger_.host_->admit(session);
    co_return admitted;
  }
  Task<Result<std::string>> greet(SessionId session, std::uint32_t door,
                                  std::string words) override {
    auto answer = co_await stranger_.host_->greet(session, door, std::move(words));
    co_return answer;
  }
  Task<void> drop(SessionId session) override { co_await stranger_.host_->drop(session); }

 private:
  PutStranger& stranger_;
};

PutStranger::PutStranger(const std::string& home_address) {
  ports_.push_back(must_have(Port::make(PortIndex(0), must_have(parse_rail_spec("tcp:127.0.0.1")),
                                        rail_, clock_, PortOptions())));
  gate_ = std::make_unique<Gate>(*this);
  host_ = std::make_unique<PortHost>(home_.asio_executor(), ports_, gate_.get(), random_);
  doors_ = std::make_unique<Doors>(*this);
  const NodeIdentity identity{NodeId(77), BootId(78), "stranger"};
  server_ = std::make_unique<RpcServer>(home_.asio_executor(),
                                        SessionServices{identity, clock_, registry_, *doors_},
                                        RpcServerOptions());
  home_.start();
  rail_.start();
  client_ = must_have(run(dial(server_.get(), &clock_, home_.asio_executor(), home_address,
                               clock_.now() + kPatience, &stream_)));
}

PutStranger::~PutStranger() {
  serve_nothing = false;
  run(close_client(client_.get()));
  client_.reset();
  run(close_server(server_.get()));
  run(close_host(host_.get()));
  rail_.stop();
  home_.stop();
}

void PutStranger::vanish() { run(cut(stream_)); }

CallOptions PutStranger::in_time() const {
  CallOptions options;
  options.deadline = clock_.now() + kPatience;
  return options;
}

Result<ObjectGeneration> PutStranger::begin(std::string key, std::uint64_t size) {
  PutRequest request;
  request.key = std::move(key);
  request.size = size;
  request.stripe_size = kGranuleBytes;
  return run(call_begin_put(client_.get(), std::move(request), in_time()));
}

PutStripeRequest PutStranger::offer(ObjectGeneration put, std::uint32_t stripe,
                                    const std::vector<std::byte>& bytes) {
  auto memory = must_have(sources_.take(bytes.size()));
  std::memcpy(memory->bytes().data(), bytes.data(), bytes.size());
  PutStripeRequest request;
  request.put = put;
  request.stripe = stripe;
  request.read = ReadId(kFirstPutRead | random_.next());
  request.regions = sources_.table();
  request.address = reinterpret_cast<std::uint64_t>(memory->bytes().data());
  request.checksum = stripe_checksum(bytes);
  PutOffer offer;
  offer.memory = memory;
  offer.length = bytes.size();
  offer.pin = Pin(memory);
  sources_.offer(request.read, std::move(offer));
  memory_.push_back(std::move(memory));
  return request;
}

Result<void> PutStranger::put(const PutStripeRequest& request) {
  return run(call_put_stripe(client_.get(), request, in_time()));
}

std::future<Result<void>> PutStranger::start_put(const PutStripeRequest& request) {
  return asio::co_spawn(home_.asio_executor(), call_put_stripe(client_.get(), request, in_time()),
                        asio::use_future);
}

Result<ObjectDescriptor> PutStranger::commit(ObjectGeneration put, std::string key) {
  return run(call_commit_put(client_.get(), put, std::move(key), in_time()));
}

Result<void> PutStranger::abort(ObjectGeneration put) {
  return run(call_abort_put(client_.get(), put, in_time()));
}

}  // namespace corail::test
