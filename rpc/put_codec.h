#pragma once

#include <cstddef>
#include <span>

#include "engine/base/result.h"
#include "engine/store/object_store_types.h"
#include "rpc/frame.h"
#include "rpc/method.h"
#include "rpc/put_messages.h"

namespace corail {

/// What codec.h is, for the messages of puts. Encoders cannot fail; decoders check every value (I5)
/// and name message and field. Pure functions; any thread.

FrameBuffer encode_begin_put(const PutRequest& request);
/// A key, a stripe size and a number of stripes that an object may have.
Result<PutRequest> decode_begin_put(std::span<const std::byte> body);
FrameBuffer encode_begin_put_answer(ObjectGeneration put);
Result<ObjectGeneration> decode_begin_put_answer(std::span<const std::byte> body);

FrameBuffer encode_put_stripe(const PutStripeRequest& request);
Result<PutStripeRequest> decode_put_stripe(std::span<const std::byte> body);

/// CommitPut and AbortPut are alike: the put's generation. The one is answered by a descriptor
/// (object_codec.h), the other by nothing.
FrameBuffer encode_end_put(ObjectGeneration put);
Result<ObjectGeneration> decode_end_put(Method method, std::span<const std::byte> body);

}  // namespace corail
