// How a session begins: Hello, from either end.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/log.h"
#include "engine/exec/sleep.h"
#include "rpc/codec.h"
#include "rpc/decode_sink.h"
#include "rpc/session.h"

namespace corail {
// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<HelloStep>> Session::meet(HelloRequest hello, TimePoint deadline) {
  if (!opened_) {
    const auto opened = co_await connection_.open_as_client(deadline);
    if (!opened.ok()) co_return opened.error();
    opened_ = true;
  }
  auto step = co_await greet(std::move(hello), deadline);
  co_return step;
}

Task<Result<HelloStep>> Session::greet(HelloRequest hello, TimePoint deadline) {
  DecodeSink<HelloAnswer> sink(
      [this, &hello](std::span<const std::byte> body) { return take_answer(body, hello); });
  FrameBuffer request = encode_hello(hello);
  const CallOptions options{deadline, nullptr};
  auto called = co_await connection_.call(Method::kHello, std::move(request), sink, options);
  if (!called.ok()) co_return std::move(called).error();
  const HelloAnswer answer = sink.take();
  if (answer.step == HelloStep::kAuthenticate) {
    Error error(Errc::kRefused, "the peer wants more than this node knows to authenticate");
    co_return std::move(error).on_peer(connection_.peer_name());
  }
  co_return answer.step;
}
#pragma GCC diagnostic pop

/// Called while the answer is read, not when its caller resumes: a call of the peer may be the next
/// frame.
Result<HelloAnswer> Session::take_answer(std::span<const std::byte> body,
                                         const HelloRequest& asked) {
  auto answer = decode_hello_answer(body, asked);
  if (!answer.ok()) return answer;
  remote_ = answer->identity;
  if (answer->step != HelloStep::kDone) return answer;
  greeted_ = true;
  features_ = answer->features;
  return answer;
}

Task<void> Session::watch_hello() {
  const TimePoint deadline = clock_.now() + options_.hello_time;
  const bool expired = co_await sleep_until(*hello_timer_, deadline);
  if (!expired || greeted_) co_return;
  connection_.refuse(Error(Errc::kDeadline, Stage::kConnect, "no Hello came in time"));
}

Result<FrameBuffer> Session::hello(std::span<const std::byte> body) {
  if (origin_ == Origin::kDialed) {
    return Error(Errc::kProtocol, Stage::kConnect, "Hello is for the side that dialed");
  }
  if (greeted_) return Error(Errc::kProtocol, Stage::kConnect, "a second Hello on one connection");
  const NodeIdentity& own = keeper_->services().identity;
  const auto asked = decode_hello(body);
  if (!asked.ok()) return asked.error();
  const std::uint32_t version = std::min(asked->protocol_max, kProtocolMax);
  if (version < std::max(asked->protocol_min, kProtocolMin)) {
    return Error(Errc::kIncompatible, Stage::kConnect,
                 fmt::format("node '{}' speaks protocol versions {} to {} and was asked for {} to "
                             "{}; run releases that have one in common",
                             own.name, kProtocolMin, kProtocolMax, asked->protocol_min,
                             asked->protocol_max));
  }
  const auto& methods = asked->auth_methods;
  if (std::find(methods.begin(), methods.end(), kAuthNone) == methods.end()) {
    return Error(Errc::kRefused, Stage::kConnect,
                 fmt::format("node '{}' knows no way to authenticate but '{}', which was not "
                             "offered",
                             own.name, kAuthNone));
  }
  HelloAnswer answer;
  answer.protocol_version = version;
  answer.features = asked->features & kFeatures;
  // A node that connects to itself is at both ends; there is nothing to share.
  if (same_instance(asked->identity, own)) answer.features &= ~kFeatureTwoWay;
  answer.identity = own;
  answer.auth_method = kAuthNone;
  const bool may_share = (answer.features & kFeatureTwoWay) != 0 && !asked->separate;
  if (may_share && keeper_->shares_unused(asked->identity)) {
    answer.step = HelloStep::kAlreadyConnected;
    return encode_hello_answer(answer);
  }
  greeted_ = true;
  hello_timer_->cancel();
  remote_ = asked->identity;
  features_ = answer.features;
  begin_stay(*first_stay_);
  return encode_hello_answer(answer);
}

}  // namespace corail
