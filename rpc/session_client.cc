#include "rpc/session_client.h"

#include <utility>

#include "engine/base/log.h"
#include "rpc/decode_sink.h"
#include "rpc/session_greeter.h"

namespace corail {
namespace {

/// For the table that is fetched because the holder said that it changed.
constexpr Duration kUnaskedDeadline = std::chrono::seconds(10);

}  // namespace

SessionClient::SessionClient(asio::any_io_executor executor, Clock& clock,
                             std::unique_ptr<ByteStream> stream, ClientOptions options)
    : executor_(executor),
      clock_(clock),
      identity_(std::move(options.identity)),
      connection_(executor, clock, std::move(stream), *this, options.connection),
      scope_(executor) {}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<std::unique_ptr<SessionClient>>> SessionClient::connect(
    asio::any_io_executor executor, Clock& clock, std::unique_ptr<ByteStream> stream,
    ClientOptions options, TimePoint deadline) {
  std::unique_ptr<SessionClient> client(
      new SessionClient(std::move(executor), clock, std::move(stream), std::move(options)));
  auto greeted = co_await client->greet(deadline);
  if (!greeted.ok()) {
    co_await client->close();
    co_return std::move(greeted).error().at(Stage::kConnect);
  }
  co_return std::move(client);
}

Task<Result<void>> SessionClient::greet(TimePoint deadline) {
  auto opened = co_await connection_.open_as_client(deadline);
  if (!opened.ok()) co_return opened;
  HelloRequest hello;
  hello.identity = identity_;
  hello.features = kFeatures;
  hello.auth_methods.emplace_back(kAuthNone);
  DecodeSink<HelloAnswer> sink(
      [&hello](std::span<const std::byte> body) { return decode_hello_answer(body, hello); });
  FrameBuffer request = encode_hello(hello);
  const CallOptions options{deadline, nullptr};
  auto called = co_await connection_.call(Method::kHello, std::move(request), sink, options);
  if (!called.ok()) co_return std::move(called).error();
  HelloAnswer answer = sink.take();
  if (answer.step != HelloStep::kDone) {
    Error error(Errc::kRefused, "the peer wants more than this node knows to authenticate");
    co_return std::move(error).on_peer(peer_name());
  }
  holder_ = std::move(answer.identity);
  features_ = answer.features;
  co_return ok_result();
}
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
    rail.greeter = std::make_shared<SessionGreeter>(executor_, *this, door++);
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
  FrameBuffer request =
      encode_query(query.read, *query.keys, query.ttl, query.layout->id(), expected.encoding);
  auto called =
      co_await connection_.call(Method::kQueryBlocksForTransfer, std::move(request), sink, options);
  if (!called.ok()) co_return std::move(called).error().at(Stage::kQuery);
  TransferAnswer answer = sink.take();
  answer.answer_bytes = called->answer_bytes;
  if (regions_->generation() < answer.blocks.generation) {
    auto fetched = co_await fetch_regions(options);
    if (!fetched.ok()) co_return std::move(fetched).error().at(Stage::kQuery);
  }
  if (regions_->generation() < answer.blocks.generation) {
    Error error(Errc::kGenerationChanged, Stage::kQuery,
                "the holder's region table is older than its answer, even when fetched again");
    co_return std::move(error).on_peer(peer_name());
  }
  answer.regions = regions_;
  co_return std::move(answer);
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
  const CallOptions options{deadline, nullptr};
  const auto fetched = co_await fetch_regions(options);
  fetching_unasked_ = false;
  if (!fetched.ok()) {
    log(LogLevel::kInfo, "the changed region table did not come: {}", fetched.error().to_string());
  }
}

Result<void> SessionClient::on_notify(Method method, std::span<const std::byte> body) {
  if (method != Method::kRegionsChanged) return ok_result();  // of a later version
  const auto generation = decode_regions_changed(body);
  if (!generation.ok()) return generation.error();
  if (*generation > regions_->generation() && !fetching_unasked_) {
    fetching_unasked_ = true;
    scope_.spawn(fetch_regions_unasked());
  }
  return ok_result();
}

#pragma GCC diagnostic pop

Task<Result<FrameBuffer>> SessionClient::serve(InboundCall& call) {
  co_return Error(Errc::kRefused, Stage::kServe,
                  fmt::format("a requester serves no calls on its own connection ({})",
                              limits_of(call.method()).name));
}

Task<Result<void>> SessionClient::end_read(Method method, ReadId read, TimePoint deadline) {
  EmptySink sink;
  FrameBuffer request = encode_read_id(read);
  const CallOptions options{deadline, nullptr};
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

Task<Result<void>> SessionClient::confirm_and_release(ReadId read, TimePoint deadline) {
  auto confirmed = co_await end_read(Method::kConfirmAndRelease, read, deadline);
  if (!confirmed.ok()) co_return std::move(confirmed).error().at(Stage::kConfirm);
  co_return confirmed;
}

Task<Result<void>> SessionClient::quiesce(ReadId read, TimePoint deadline) {
  auto quiet = co_await end_read(Method::kQuiesceRead, read, deadline);
  co_return quiet;
}

Task<Result<void>> SessionClient::release(ReadId read, TimePoint deadline) {
  auto released = co_await end_read(Method::kReleaseLease, read, deadline);
  co_return released;
}

Task<Error> SessionClient::wait_ended() {
  auto why = co_await connection_.wait_ended();
  co_return why;
}

Task<void> SessionClient::close() {
  co_await connection_.close();
  co_await scope_.join();
}

}  // namespace corail
