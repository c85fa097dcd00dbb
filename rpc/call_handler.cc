#include "rpc/call_handler.h"

#include "rpc/send_queue.h"

namespace corail {

void InboundCall::on_cancel(std::function<void()> hook) {
  if (cancelled_ && hook) {
    hook();
    return;
  }
  hook_ = std::move(hook);
}

void InboundCall::cancel() {
  cancelled_ = true;
  if (hook_) std::exchange(hook_, nullptr)();
}

Task<Result<void>> InboundCall::send_part(FrameBuffer part) {
  if (cancelled_) co_return Error(Errc::kCancelled, Stage::kServe, "the caller has given up");
  if (part.body_bytes() > limits_of(method_).answer_bytes) {
    co_return Error(Errc::kTooLarge, Stage::kServe, "a part of the answer is too large");
  }
  part.set_header(FrameKind::kAnswerPart, method_, id_);
  auto sent = co_await queue_.push(std::move(part));
  co_return sent;
}

}  // namespace corail
