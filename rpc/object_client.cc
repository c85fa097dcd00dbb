#include "rpc/object_client.h"

#include <fmt/core.h>

#include <utility>

#include "engine/object/descriptor_check.h"
#include "engine/object/striping_info.h"
#include "rpc/decode_sink.h"
#include "rpc/object_codec.h"

namespace corail {

Result<void> ObjectClient::may_call() const {
  if (session_.knows_objects()) return ok_result();
  return Error(Errc::kIncompatible, Stage::kQuery,
               "the other node's release serves no objects; update it")
      .on_peer(session_.peer_name());
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<ObjectDescriptor>> ObjectClient::lookup(std::string key, CallOptions options) {
  auto may = may_call();
  if (may.ok()) may = check_object_key(key);
  if (!may.ok()) co_return std::move(may).error().at(Stage::kQuery);
  DecodeSink<ObjectDescriptor> sink(
      [&key](std::span<const std::byte> body) { return decode_descriptor(body, key); });
  FrameBuffer request = encode_lookup_object(key);
  auto called =
      co_await session_.connection().call(Method::kLookupObject, std::move(request), sink, options);
  if (!called.ok()) co_return std::move(called).error().at(Stage::kQuery);
  co_return sink.take();
}

Task<Result<OpenObject>> ObjectClient::open(OpenObjectRequest request, std::size_t stripes,
                                            std::size_t granules, CallOptions options) {
  auto may = may_call();
  if (!may.ok()) co_return std::move(may).error();
  OpenObjectExpectation expected;
  expected.stripes = stripes;
  expected.granules = granules;
  expected.want_addresses = request.want_addresses;
  DecodeSink<OpenObjectAnswer> sink([&expected](std::span<const std::byte> body) {
    return decode_open_object_answer(body, expected);
  });
  FrameBuffer frame = encode_open_object(request);
  auto called =
      co_await session_.connection().call(Method::kOpenObject, std::move(frame), sink, options);
  if (!called.ok()) co_return std::move(called).error().at(Stage::kQuery);
  OpenObject open;
  open.answer = sink.take();
  auto regions = co_await session_.regions_since(open.answer.regions, options);
  if (!regions.ok()) co_return std::move(regions).error().at(Stage::kQuery);
  open.regions = std::move(*regions);
  co_return std::move(open);
}

Task<Result<std::vector<ObjectSummary>>> ObjectClient::list(ListObjectsRequest request,
                                                            CallOptions options) {
  auto may = may_call();
  if (!may.ok()) co_return std::move(may).error();
  if (request.most < 1 || request.most > kMaxListedObjects ||
      request.prefix.size() > kMaxObjectKeyBytes || request.after.size() > kMaxObjectKeyBytes) {
    co_return Error(Errc::kInvalidArgument, Stage::kQuery,
                    fmt::format("a page of a listing has 1 to {} keys, and keys have at most {} "
                                "bytes",
                                kMaxListedObjects, kMaxObjectKeyBytes));
  }
  DecodeSink<std::vector<ObjectSummary>> sink([&request](std::span<const std::byte> body) {
    return decode_list_objects_answer(body, request);
  });
  FrameBuffer frame = encode_list_objects(request);
  auto called =
      co_await session_.connection().call(Method::kListObjects, std::move(frame), sink, options);
  if (!called.ok()) co_return std::move(called).error().at(Stage::kQuery);
  co_return sink.take();
}

Task<Result<ObjectGeneration>> ObjectClient::erase(DeleteObjectRequest request,
                                                   CallOptions options) {
  auto may = may_call();
  if (may.ok()) may = check_object_key(request.key);
  if (!may.ok()) co_return std::move(may).error().at(Stage::kQuery);
  DecodeSink<ObjectGeneration> sink(decode_delete_object_answer);
  FrameBuffer frame = encode_delete_object(request);
  auto called =
      co_await session_.connection().call(Method::kDeleteObject, std::move(frame), sink, options);
  if (!called.ok()) co_return std::move(called).error().at(Stage::kQuery);
  co_return sink.take();
}
#pragma GCC diagnostic pop

}  // namespace corail
