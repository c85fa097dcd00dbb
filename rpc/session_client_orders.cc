// Orders to push, on behalf of the rails.
#include <set>
#include <string>
#include <utility>

#include "engine/exec/when_all.h"
#include "rpc/decode_sink.h"
#include "rpc/object_codec.h"
#include "rpc/session_client.h"

namespace corail {
namespace {

/// In the set for as long as this lives.
class Listed {
 public:
  Listed(std::set<CallCancel*>& set, CallCancel& call) : set_(set), call_(call) {
    set_.insert(&call_);
  }
  ~Listed() { set_.erase(&call_); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  std::set<CallCancel*>& set_;
  CallCancel& call_;
};

/// The owner has not said that it writes nothing more for an order: an error of the transport, for
/// which the rail fences (PushCourier).
Error unknown(const Error& why, const std::string& peer) {
  return Error(Errc::kConnectionLost, Stage::kWait,
               "the owner did not say what it still writes: " + why.detail())
      .on_peer(peer);
}

/// Whether the error is not the owner's word about the order. A deadline is what an owner says that
/// does not know itself; one that is stuck may write for ever, and is not believed to have stopped;
/// what cannot be decoded says nothing.
bool leaves_open(Errc code) {
  return code == Errc::kDeadline || code == Errc::kStuck || code == Errc::kProtocol;
}

}  // namespace

void SessionClient::order_stripes(ReadStripesRequest request, PushCourier::Answered answered) {
  scope_.spawn(carry_order(request, std::move(answered)));
}

Task<void> SessionClient::carry_order(ReadStripesRequest request, PushCourier::Answered answered) {
  Result<PushReceipt> receipt;
  auto turn = co_await orders_.acquire(1);
  if (turn.ok()) {
    receipt = co_await without_exceptions(read_stripes(request));
    // Whatever threw, the order may have gone out.
    if (!receipt && receipt.error().code() == Errc::kOutOfMemory) {
      receipt = unknown(receipt.error(), peer_name());
    }
    orders_.release(1);
  } else {
    // Of this one the owner never hears, whatever ended the session.
    receipt = Error(Errc::kClosed, Stage::kSubmit, turn.error().detail());
  }
  answered(std::move(receipt));
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<PushReceipt>> SessionClient::read_stripes(ReadStripesRequest request) {
  const std::uint64_t ordered = request.order.length;
  DecodeSink<PushReceipt> sink([ordered](std::span<const std::byte> body) {
    return decode_read_stripes_answer(body, ordered);
  });
  FrameBuffer frame = encode_read_stripes(request);
  CallCancel cancel;
  const Listed listed(order_calls_, cancel);
  // Without a deadline of its own: the read has one, and until the owner says that it writes no
  // more, or the connection ends, nobody knows what it does. Keep-alive bounds the latter.
  const CallOptions options{TimePoint::max(), &cancel};
  auto called = co_await connection_.call(Method::kReadStripes, std::move(frame), sink, options);
  if (called.ok()) co_return sink.take();
  const Error& why = called.error();
  // What ends the connection ends its calls with the reason, whichever that is.
  if (!connection_.usable() || cancel.fired() || leaves_open(why.code())) {
    co_return unknown(why, peer_name());
  }
  co_return why;
}
#pragma GCC diagnostic pop

/// The rails are closed: nobody wants to know any more, and the connection may stay.
void SessionClient::end_orders() {
  orders_.close(*ended_);
  const std::set<CallCancel*> running = order_calls_;
  for (CallCancel* const call : running) call->fire();
}

}  // namespace corail
