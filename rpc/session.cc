#include "rpc/session.h"

#include <fmt/core.h>

#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "rpc/codec.h"
#include "rpc/session_client.h"

namespace corail {
namespace {

/// Stays of one session that wait for their last handlers and bytes (I8). Nobody who means well
/// comes and goes faster than they end.
constexpr std::uint32_t kMaxEndingStays = 8;

}  // namespace

Session::Session(asio::any_io_executor executor, Clock& clock, std::unique_ptr<ByteStream> stream,
                 SessionOptions options, Origin origin, SessionKeeper* keeper)
    : executor_(std::move(executor)),
      clock_(clock),
      options_(options),
      origin_(origin),
      keeper_(keeper),
      connection_(executor_, clock_, std::move(stream), *this, options_.connection),
      hello_timer_(clock_.make_timer(executor_)),
      dialing_(origin == Origin::kDialed),
      over_event_(executor_),
      scope_(executor_) {}

Session::~Session() { CORAIL_CHECK(over_, "a session is run to its end"); }

Task<void> Session::accept(SessionId stay, std::optional<Error> refusal) {
  first_stay_ = stay;
  const auto opened = co_await connection_.open_as_server();
  opened_ = opened.ok();
  if (opened.ok()) {
    if (refusal) connection_.refuse(*refusal);
    scope_.spawn(watch_hello());
  } else {
    log(LogLevel::kInfo, "session {} did not begin: {}", stay.value(), opened.error().to_string());
  }
  co_await run();
}

Task<void> Session::run() {
  if (opened_) {
    const Error why = co_await connection_.wait_ended();
    log(LogLevel::kInfo, "the session with node '{}' ended: {}", remote_.name, why.to_string());
    hello_timer_->cancel();
    if (user_ != nullptr) user_->end(why);
  }
  // First the handlers end, so that none of them can take a lease after its stay was dropped.
  co_await connection_.close();
  if (stay_) co_await end_stay(std::exchange(stay_, nullptr));
  co_await scope_.join();
  over_ = true;
  over_event_.notify();
}

void Session::stop() {
  connection_.refuse(Error(Errc::kClosed, Stage::kClose, "the node is closing"));
}

void Session::give_way() {
  CORAIL_CHECK(user_ == nullptr, "a session that is used does not give way");
  dialing_ = false;
  if (two_way()) say_goodbye(GoodbyeReason::kOtherSession);
  connection_.finish();
}

void Session::begin_use(SessionClient& user) {
  CORAIL_CHECK(user_ == nullptr, "a session has one user at a time");
  dialing_ = false;
  user_ = &user;
}

Task<void> Session::end_use() {
  user_ = nullptr;
  if (stay_ && two_way()) say_goodbye(GoodbyeReason::kLeft);
  // Where that could not be said the peer reads nothing, and its stay is of no use to it.
  if (stay_ && two_way()) co_return;
  connection_.finish();
  while (!over_) {
    co_await over_event_.wait();
  }
}

void Session::say_goodbye(GoodbyeReason reason) {
  // In the order of our calls, unlike a control frame: no call of ours may come after it and begin
  // another stay.
  const auto sent = connection_.notify(Method::kGoodbye, encode_goodbye(reason));
  if (!sent.ok()) connection_.finish();
}

void Session::on_goodbye(GoodbyeReason reason) {
  log(LogLevel::kInfo, "node '{}' ({}) calls no more{}", remote_.name, connection_.peer_name(),
      reason == GoodbyeReason::kOtherSession ? " over this connection: it shares another" : "");
  if (!stay_) return;
  scope_.spawn(end_stay(std::exchange(stay_, nullptr)));
  finish_if_unused();
}

void Session::finish_if_unused() {
  if (!dialing_ && user_ == nullptr && stay_ == nullptr) connection_.finish();
}

void Session::regions_changed(TableGeneration generation) {
  if (!stay_ || !connection_.usable()) return;
  const auto sent = connection_.notify(Method::kRegionsChanged, encode_regions_changed(generation));
  if (!sent.ok()) log(LogLevel::kDebug, "{}", sent.error().to_string());
}

Task<Result<FrameBuffer>> Session::serve(InboundCall& call) {
  if (call.method() == Method::kHello) co_return hello(call.body());
  // Held here, so that the stay outlives its handlers.
  const auto stay = stay_for(call.method());
  if (!stay.ok()) co_return stay.error();
  auto answer = co_await (*stay)->serve(call);
  co_return answer;
}

Result<std::shared_ptr<SessionServer>> Session::stay_for(Method method) {
  if (stay_) return stay_;
  if (origin_ == Origin::kAccepted && !greeted_) {
    return Error(Errc::kProtocol, Stage::kServe, "Hello must be the first call");
  }
  if (keeper_ == nullptr || !two_way()) {
    return Error(Errc::kRefused, Stage::kServe,
                 fmt::format("a requester serves no calls on its own connection ({})",
                             limits_of(method).name));
  }
  if (ending_stays_ >= kMaxEndingStays) {
    return Error(Errc::kBusy, Stage::kServe,
                 fmt::format("{} earlier stays of this session have not ended yet", ending_stays_));
  }
  begin_stay(keeper_->next_stay());
  return stay_;
}

void Session::begin_stay(SessionId id) {
  stay_ = std::make_shared<SessionServer>(executor_, keeper_->services(), keeper_->templates(), id,
                                          *this);
  log(LogLevel::kInfo, "session {} of node '{}' ({}) began", id.value(), remote_.name,
      connection_.peer_name());
}

Task<void> Session::end_stay(std::shared_ptr<SessionServer> stay) {
  ++ending_stays_;
  co_await stay->end();
  --ending_stays_;
}

Result<void> Session::on_notify(Method method, std::span<const std::byte> body) {
  if (method == Method::kGoodbye) {
    const auto reason = decode_goodbye(body);
    if (!reason.ok()) return reason.error();
    on_goodbye(*reason);
    return ok_result();
  }
  // Others are of a later version, or mean a user that is gone.
  if (method != Method::kRegionsChanged) return ok_result();
  const auto generation = decode_regions_changed(body);
  if (!generation.ok()) return generation.error();
  if (user_ != nullptr) user_->on_regions_changed(*generation);
  return ok_result();
}

}  // namespace corail
