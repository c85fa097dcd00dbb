#include "rpc/session_client.h"

#include <asio/this_coro.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "rpc/cancel_bridge.h"
#include "rpc/decode_sink.h"
#include "rpc/session_courier.h"
#include "rpc/session_greeter.h"

namespace corail {
namespace {

/// For the table that is fetched because the holder said that it changed.
constexpr Duration kUnaskedDeadline = std::chrono::seconds(10);

/// Posted slices of all rails that wait to be ordered: far more than their windows have room for.
constexpr std::size_t kMaxWaitingOrders = 1'048'576;

}  // namespace

SessionClient::SessionClient(const asio::any_io_executor& executor, Clock& clock,
                             std::shared_ptr<Session> session, Way way)
    : executor_(executor),
      clock_(clock),
      session_(std::move(session)),
      connection_(session_->connection()),
      way_(std::move(way)),
      holder_(session_->remote()),
      features_(session_->features()),
      end_event_(executor),
      orders_(executor, kMaxOrdersUnderWay, kMaxWaitingOrders),
      scope_(executor) {
  session_->begin_use(*this);
}

SessionClient::~SessionClient() {
  CORAIL_CHECK(closed_, "a session's client was destroyed without an awaited close()");
  *self_ = nullptr;
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<std::unique_ptr<SessionClient>>> SessionClient::connect(
    asio::any_io_executor executor, Clock& clock, std::unique_ptr<ByteStream> stream,
    ClientOptions options, TimePoint deadline) {
  SessionOptions session_options;
  session_options.connection = options.connection;
  const auto session = std::make_shared<Session>(
      executor, clock, std::move(stream), session_options, Session::Origin::kDialed, nullptr);
  HelloRequest hello(std::move(options.identity), kFeatures & ~kFeatureTwoWay);
  const auto step = co_await session->meet(std::move(hello), deadline);
  if (!step.ok()) {
    session->give_way();
    co_await session->run();
    Error error = step.error();
    co_return std::move(error).at(Stage::kConnect);
  }
  Way way;
  way.name = session->peer_name();
  auto client = std::make_unique<SessionClient>(executor, clock, session, std::move(way));
  client->scope_.spawn(client->run_session());
  co_return std::move(client);
}

Task<void> SessionClient::run_session() { co_await session_->run(); }

Task<Result<std::vector<RailEndpoint>>> SessionClient::open_rails(
    std::vector<std::string> descriptions, TimePoint deadline) {
  if (descriptions.empty() || descriptions.size() > kMaxRails) {
    co_return Error(Errc::kInvalidArgument, Stage::kConnect, "a node has 1 to 64 rails");
  }
  OpenRailsRequest request;
  request.rail_count = static_cast<std::uint32_t>(descriptions.size());
  request.descriptions = std::move(descriptions);
  DecodeSink<OpenRailsAnswer> sink(decode_open_rails_answer);
  FrameBuffer frame = encode_open_rails(request);
  const CallOptions options{deadline, nullptr};
  auto called = co_await connection_.call(Method::kOpenRails, std::move(frame), sink, options);
  if (!called.ok()) co_return std::move(called).error().at(Stage::kConnect);
  OpenRailsAnswer answer = sink.take();
  take_regions(std::move(answer.regions));
  std::uint32_t door = 0;
  for (RailEndpoint& rail : answer.rails) {
    rail.greeter = std::make_shared<SessionGreeter>(executor_, self_, door);
    if (knows_objects()) {
      rail.courier =
          std::make_shared<SessionCourier>(executor_, self_, door, asio::any_io_executor());
    }
    ++door;
  }
  co_return std::move(answer.rails);
}

Task<Result<std::string>> SessionClient::greet_door(std::uint32_t door, std::string words,
                                                    TimePoint deadline) {
  DecodeSink<std::string> sink(decode_greet_door_answer);
  FrameBuffer frame = encode_greet_door(door, words);
  const CallOptions options{deadline, nullptr};
  auto called = co_await connection_.call(Method::kGreetDoor, std::move(frame), sink, options);
  if (!called.ok()) co_return std::move(called).error().at(Stage::kConnect);
  co_return sink.take();
}

Task<Result<TransferAnswer>> SessionClient::query(TransferQuery query, CallOptions options) {
  const auto asked = check_query(query.read, *query.keys);
  if (!asked.ok()) co_return asked.error();
  QueryExpectation expected;
  expected.asked_blocks = static_cast<std::uint32_t>(query.keys->hashes.size());
  expected.boot = holder_.boot;
  expected.layout = query.layout;
  if ((features_ & kFeatureAnswerEncodings) != 0) expected.encoding = query.encoding;
  DecodeSink<TransferAnswer> sink(
      [&expected](std::span<const std::byte> body) { return decode_query_answer(body, expected); });
  FrameBuffer request = encode_query(query.read, *query.keys, query.ttl, query.layout->id(),
                                     expected.encoding, query.wait);
  auto called =
      co_await connection_.call(Method::kQueryBlocksForTransfer, std::move(request), sink, options);
  if (!called.ok()) co_return std::move(called).error().at(Stage::kQuery);
  TransferAnswer answer = sink.take();
  answer.answer_bytes = called->answer_bytes;
  auto regions = co_await regions_since(answer.blocks.generation, options);
  if (!regions.ok()) co_return std::move(regions).error();
  answer.regions = std::move(*regions);
  co_return std::move(answer);
}

Task<Result<std::shared_ptr<const RegionTable>>> SessionClient::regions_since(
    TableGeneration generation, CallOptions options) {
  if (regions_->generation() < generation) {
    auto fetched = co_await fetch_regions(options);
    if (!fetched.ok()) co_return std::move(fetched).error().at(Stage::kQuery);
  }
  if (regions_->generation() < generation) {
    Error error(Errc::kGenerationChanged, Stage::kQuery,
                "the holder's region table is older than its answer, even when fetched again");
    co_return std::move(error).on_peer(peer_name());
  }
  co_return regions_;
}

Task<Result<void>> SessionClient::fetch_regions(CallOptions options) {
  DecodeSink<RegionTable> sink(decode_get_regions_answer);
  auto called = co_await connection_.call(Method::kGetRegions, encode_get_regions(), sink, options);
  if (!called.ok()) co_return std::move(called).error();
  take_regions(sink.take());
  co_return ok_result();
}

void SessionClient::take_regions(RegionTable table) {
  // Answers may overtake each other; the newest stays.
  if (table.generation() < regions_->generation()) return;
  regions_ = std::make_shared<const RegionTable>(std::move(table));
}

Task<void> SessionClient::fetch_regions_unasked() {
  const TimePoint deadline = clock_.now() + kUnaskedDeadline;
  const CallOptions options{deadline, &stop_fetching_};
  const auto fetched = co_await fetch_regions(options);
  fetching_unasked_ = false;
  if (!fetched.ok()) {
    log(LogLevel::kInfo, "the changed region table did not come: {}", fetched.error().to_string());
  }
}

void SessionClient::on_regions_changed(TableGeneration generation) {
  if (generation <= regions_->generation() || fetching_unasked_) return;
  fetching_unasked_ = true;
  scope_.spawn(fetch_regions_unasked());
}

#pragma GCC diagnostic pop

Task<Result<void>> SessionClient::end_read(Method method, ReadId read, TimePoint deadline,
                                           CallCancel* cancel) {
  EmptySink sink;
  FrameBuffer request = encode_read_id(read);
  const CallOptions options{deadline, cancel};
  auto called = co_await connection_.call(method, std::move(request), sink, options);
  if (!called.ok()) co_return std::move(called).error();
  co_return ok_result();
}

Task<Result<Duration>> SessionClient::renew(ReadId read, Duration ttl, CallOptions options) {
  DecodeSink<Duration> sink(decode_renew_answer);
  FrameBuffer request = encode_renew(read, ttl);
  auto called = co_await connection_.call(Method::kRenewLease, std::move(request), sink, options);
  if (!called.ok()) co_return std::move(called).error();
  co_return sink.take();
}

Task<Result<LaneSums>> SessionClient::lane_sums(ReadId read, LaneRange lanes, std::uint32_t blocks,
                                                CallOptions options) {
  DecodeSink<LaneSums> sink(
      [blocks](std::span<const std::byte> body) { return decode_lane_sums_answer(body, blocks); });
  FrameBuffer request = encode_lane_sums(read, lanes);
  auto called = co_await connection_.call(Method::kLaneSums, std::move(request), sink, options);
  if (!called.ok()) co_return std::move(called).error();
  co_return sink.take();
}

Task<Result<void>> SessionClient::ask_confirmation(Method method, ReadId read, TimePoint deadline,
                                                   CancelToken cancel) {
  const asio::any_io_executor home = co_await asio::this_coro::executor;
  CallCancel call;
  const CancelBridge bridge(home, cancel, call);
  auto confirmed = co_await end_read(method, read, deadline, &call);
  if (!confirmed.ok()) co_return std::move(confirmed).error().at(Stage::kConfirm);
  co_return confirmed;
}

Task<Result<void>> SessionClient::confirm(ReadId read, TimePoint deadline, CancelToken cancel) {
  auto confirmed = co_await ask_confirmation(Method::kConfirmLease, read, deadline, cancel);
  co_return confirmed;
}

Task<Result<void>> SessionClient::confirm_and_release(ReadId read, TimePoint deadline,
                                                      CancelToken cancel) {
  auto confirmed = co_await ask_confirmation(Method::kConfirmAndRelease, read, deadline, cancel);
  co_return confirmed;
}

Task<Result<void>> SessionClient::quiesce(ReadId read, TimePoint deadline) {
  auto quiet = co_await end_read(Method::kQuiesceRead, read, deadline, nullptr);
  co_return quiet;
}

Task<Result<void>> SessionClient::release(ReadId read, TimePoint deadline) {
  auto released = co_await end_read(Method::kReleaseLease, read, deadline, nullptr);
  co_return released;
}

void SessionClient::end(Error why) {
  if (!ended_) ended_ = std::move(why);
  end_event_.notify();
}

Task<Error> SessionClient::wait_ended() {
  while (!ended_) {
    co_await end_event_.wait();
  }
  co_return *ended_;
}

Task<void> SessionClient::close() {
  if (closed_) co_return;
  end(Error(Errc::kConnectionLost, Stage::kClose, "this side has closed the session")
          .on_peer(peer_name()));
  stop_fetching_.fire();
  end_orders();
  co_await session_->end_use();
  co_await scope_.join();
  closed_ = true;
}

}  // namespace corail
