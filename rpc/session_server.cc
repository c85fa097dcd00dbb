#include "rpc/session_server.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/log.h"
#include "engine/exec/sleep.h"

namespace corail {

SessionServer::SessionServer(asio::any_io_executor executor, const SessionServices& services,
                             TemplateCache& templates, SessionId id,
                             std::unique_ptr<ByteStream> stream, SessionOptions options)
    : executor_(std::move(executor)),
      services_(services),
      templates_(templates),
      id_(id),
      options_(options),
      connection_(executor_, services_.clock, std::move(stream), *this, options_.connection),
      hello_timer_(services_.clock.make_timer(executor_)),
      scope_(executor_) {}

Task<void> SessionServer::run(std::optional<Error> refusal) {
  const auto opened = co_await connection_.open_as_server();
  if (opened.ok()) {
    if (refusal) connection_.refuse(*refusal);
    scope_.spawn(watch_hello());
    const Error why = co_await connection_.wait_ended();
    log(LogLevel::kInfo, "session {} ended: {}", id_.value(), why.to_string());
    hello_timer_->cancel();
    co_await scope_.join();
  } else {
    log(LogLevel::kInfo, "session {} did not begin: {}", id_.value(), opened.error().to_string());
  }
  co_await clean_up();
}

Task<void> SessionServer::clean_up() {
  // First the handlers end, so that none of them can take a lease after the session was dropped.
  co_await connection_.close();
  if (services_.store != nullptr) services_.store->drop_session(id_);
  if (rails_touched_) {
    co_await services_.rails.drop(id_);
  }
}

void SessionServer::stop() {
  connection_.refuse(Error(Errc::kClosed, Stage::kClose, "the node is closing"));
}

Task<void> SessionServer::watch_hello() {
  const TimePoint deadline = services_.clock.now() + options_.hello_time;
  const bool expired = co_await sleep_until(*hello_timer_, deadline);
  if (!expired || greeted_) co_return;
  connection_.refuse(Error(Errc::kDeadline, Stage::kConnect, "no Hello came in time"));
}

void SessionServer::regions_changed(TableGeneration generation) {
  if (!greeted_ || !connection_.usable()) return;
  const auto sent = connection_.notify(Method::kRegionsChanged, encode_regions_changed(generation));
  if (!sent.ok()) log(LogLevel::kDebug, "session {}: {}", id_.value(), sent.error().to_string());
}

Task<Result<FrameBuffer>> SessionServer::serve(InboundCall& call) {
  const Method method = call.method();
  if (method == Method::kHello) co_return hello(call.body());
  if (!greeted_) co_return Error(Errc::kProtocol, Stage::kServe, "Hello must be the first call");
  switch (method) {
    case Method::kOpenRails: {
      auto answer = co_await open_rails(call.body());
      co_return answer;
    }
    case Method::kGreetDoor: {
      auto answer = co_await greet_door(call.body());
      co_return answer;
    }
    case Method::kGetRegions:
      co_return get_regions(call.body());
    case Method::kQueryBlocksForTransfer:
      co_return query(call.body());
    case Method::kRenewLease:
      co_return renew(call.body());
    case Method::kConfirmAndRelease:
    case Method::kReleaseLease:
    case Method::kQuiesceRead:
      co_return end_read(method, call.body());
    default:
      co_return Error(Errc::kProtocol, Stage::kServe,
                      fmt::format("method {} is unknown to this node, which speaks protocol {} to "
                                  "{}",
                                  static_cast<unsigned>(method), kProtocolMin, kProtocolMax));
  }
}

Result<void> SessionServer::on_notify(Method, std::span<const std::byte>) {
  return ok_result();  // nothing a requester could notify about changes anything here
}

Result<FrameBuffer> SessionServer::hello(std::span<const std::byte> body) {
  if (greeted_) return Error(Errc::kProtocol, Stage::kConnect, "a second Hello on one connection");
  const auto asked = decode_hello(body);
  if (!asked.ok()) return asked.error();
  const std::uint32_t version = std::min(asked->protocol_max, kProtocolMax);
  if (version < std::max(asked->protocol_min, kProtocolMin)) {
    return Error(Errc::kIncompatible, Stage::kConnect,
                 fmt::format("node '{}' speaks protocol versions {} to {} and was asked for {} to "
                             "{}; run releases that have one in common",
                             services_.identity.name, kProtocolMin, kProtocolMax,
                             asked->protocol_min, asked->protocol_max));
  }
  const auto& methods = asked->auth_methods;
  if (std::find(methods.begin(), methods.end(), kAuthNone) == methods.end()) {
    return Error(Errc::kRefused, Stage::kConnect,
                 fmt::format("node '{}' knows no way to authenticate but '{}', which was not "
                             "offered",
                             services_.identity.name, kAuthNone));
  }
  greeted_ = true;
  hello_timer_->cancel();
  log(LogLevel::kInfo, "session {} of node '{}' ({}) began", id_.value(), asked->identity.name,
      connection_.peer_name());
  HelloAnswer answer;
  answer.protocol_version = version;
  answer.features = asked->features & kFeatures;
  answer.identity = services_.identity;
  answer.auth_method = kAuthNone;
  return encode_hello_answer(answer);
}

Task<Result<FrameBuffer>> SessionServer::open_rails(std::span<const std::byte> body) {
  const auto asked = decode_open_rails(body);
  if (!asked.ok()) co_return asked.error();
  if (rails_open_) {
    co_return Error(Errc::kInvalidArgument, Stage::kConnect,
                    "the rails of this session are open already");
  }
  rails_open_ = true;
  rails_touched_ = true;
  const auto rails = co_await services_.rails.admit(id_);
  rails_open_ = rails.ok();
  if (!rails.ok()) co_return rails.error();
  CORAIL_CHECK(!rails->empty() && rails->size() <= kMaxRails, "a node has 1 to 64 rails");
  const auto table = services_.regions.snapshot();
  co_return encode_open_rails_answer(*rails, *table);
}

Task<Result<FrameBuffer>> SessionServer::greet_door(std::span<const std::byte> body) {
  auto asked = decode_greet_door(body);
  if (!asked.ok()) co_return std::move(asked).error();
  if (!rails_open_) {
    co_return Error(Errc::kProtocol, Stage::kConnect, "the rails of this session are not open");
  }
  const auto words = co_await services_.rails.greet(id_, asked->door, std::move(asked->words));
  if (!words.ok()) co_return words.error();
  co_return encode_greet_door_answer(*words);
}

Result<FrameBuffer> SessionServer::get_regions(std::span<const std::byte> body) {
  const auto asked = decode_get_regions(body);
  if (!asked.ok()) return asked.error();
  return encode_get_regions_answer(*services_.regions.snapshot());
}

Result<FrameBuffer> SessionServer::query(std::span<const std::byte> body) {
  const auto asked = decode_query(body);
  if (!asked.ok()) return asked.error();
  if (services_.store == nullptr) {
    return Error(Errc::kNotFound, Stage::kQuery, "this node holds no blocks");
  }
  QueryRequest request;
  request.session = id_;
  request.read = asked->read;
  request.name_space = asked->name_space;
  request.hashes = asked->hashes;
  request.ttl = asked->ttl;
  request.encoding = asked->encoding;
  const auto answer = services_.store->query_for_transfer(request);
  if (!answer.ok()) return answer.error();

  Result<FrameBuffer> frame = encode_query_answer(*answer, templates_);
  const std::uint32_t most = limits_of(Method::kQueryBlocksForTransfer).answer_bytes;
  if (answer->block_count > 0 && asked->layout_id != 0 &&
      answer->layout->id() != asked->layout_id) {
    frame = Error(Errc::kLayoutMismatch, Stage::kQuery,
                  fmt::format("the blocks here have another layout ({} lanes, {} bytes a block) "
                              "than the one expected; both nodes must serve the same model with "
                              "the same split",
                              answer->layout->lanes(), answer->layout->block_bytes()));
  } else if (frame->body_bytes() > most) {
    frame = Error(Errc::kTooLarge, Stage::kQuery,
                  fmt::format("the answer has {} bytes, more than the {} allowed; ask for fewer "
                              "blocks at once",
                              frame->body_bytes(), most));
  }
  // Nobody would come to release a lease that was not told about.
  if (!frame.ok()) services_.store->release(id_, asked->read);
  return frame;
}

Result<FrameBuffer> SessionServer::renew(std::span<const std::byte> body) {
  const auto asked = decode_renew(body);
  if (!asked.ok()) return asked.error();
  if (services_.store == nullptr) {
    return Error(Errc::kNotFound, Stage::kConfirm, "there is no such lease");
  }
  const auto ttl = services_.store->renew(id_, asked->read, asked->ttl);
  if (!ttl.ok()) return ttl.error();
  return encode_renew_answer(*ttl);
}

Result<FrameBuffer> SessionServer::end_read(Method method, std::span<const std::byte> body) {
  const auto read = decode_read_id(method, body);
  if (!read.ok()) return read.error();
  BlockStore* const store = services_.store;
  if (method == Method::kConfirmAndRelease) {
    if (store == nullptr) return Error(Errc::kNotFound, Stage::kConfirm, "there is no such lease");
    const auto confirmed = store->confirm_and_release(id_, *read);
    if (!confirmed.ok()) return confirmed.error();
  } else if (store != nullptr && method == Method::kReleaseLease) {
    store->release(id_, *read);
  } else if (store != nullptr) {
    store->quiesce(id_, *read);
  }
  return FrameBuffer();
}

}  // namespace corail
