#include "rpc/put_client.h"

#include <span>
#include <utility>

#include "rpc/decode_sink.h"
#include "rpc/object_codec.h"
#include "rpc/put_codec.h"

namespace corail {

Task<Result<ObjectGeneration>> call_begin_put(SessionClient* home, PutRequest request,
                                              CallOptions options) {
  DecodeSink<ObjectGeneration> sink(decode_begin_put_answer);
  FrameBuffer frame = encode_begin_put(request);
  auto called =
      co_await home->connection().call(Method::kBeginPut, std::move(frame), sink, options);
  if (!called.ok()) co_return std::move(called).error();
  co_return sink.take();
}

Task<Result<void>> call_put_stripe(SessionClient* home, PutStripeRequest request,
                                   CallOptions options) {
  EmptySink sink;
  FrameBuffer frame = encode_put_stripe(request);
  auto called =
      co_await home->connection().call(Method::kPutStripe, std::move(frame), sink, options);
  if (!called.ok()) co_return std::move(called).error();
  co_return ok_result();
}

Task<Result<ObjectDescriptor>> call_commit_put(SessionClient* home, ObjectGeneration put,
                                               std::string key, CallOptions options) {
  DecodeSink<ObjectDescriptor> sink(
      [&key](std::span<const std::byte> body) { return decode_descriptor(body, key); });
  FrameBuffer frame = encode_end_put(put);
  auto called =
      co_await home->connection().call(Method::kCommitPut, std::move(frame), sink, options);
  if (!called.ok()) co_return std::move(called).error();
  co_return sink.take();
}

Task<Result<void>> call_abort_put(SessionClient* home, ObjectGeneration put, CallOptions options) {
  EmptySink sink;
  FrameBuffer frame = encode_end_put(put);
  auto called =
      co_await home->connection().call(Method::kAbortPut, std::move(frame), sink, options);
  if (!called.ok()) co_return std::move(called).error();
  co_return ok_result();
}

}  // namespace corail
