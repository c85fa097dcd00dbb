#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/object/object_descriptor.h"
#include "rpc/frame.h"
#include "rpc/object_messages.h"

namespace corail {

/// What codec.h is, for the messages about objects. Encoders cannot fail; decoders check every
/// value (I5) and name message and field. Pure functions; any thread.

FrameBuffer encode_lookup_object(const std::string& key);
Result<std::string> decode_lookup_object(std::span<const std::byte> body);

/// The answer to LookupObject. The key is not told: it is the one that was asked for.
FrameBuffer encode_descriptor(const ObjectDescriptor& object);
/// What check_descriptor() passes.
Result<ObjectDescriptor> decode_descriptor(std::span<const std::byte> body, std::string key);

FrameBuffer encode_open_object(const OpenObjectRequest& request);
Result<OpenObjectRequest> decode_open_object(std::span<const std::byte> body);
FrameBuffer encode_open_object_answer(const OpenObjectAnswer& answer);
/// What the reader knows by itself and holds the answer against.
struct OpenObjectExpectation {
  std::size_t stripes = 0;   // of the owner's
  std::size_t granules = 0;  // of the stripes that were asked for
  bool want_addresses = false;
};
/// With addresses for all of the owner's stripes, or for none.
Result<OpenObjectAnswer> decode_open_object_answer(std::span<const std::byte> body,
                                                   const OpenObjectExpectation& expected);

FrameBuffer encode_list_objects(const ListObjectsRequest& request);
Result<ListObjectsRequest> decode_list_objects(std::span<const std::byte> body);
FrameBuffer encode_list_objects_answer(std::span<const ObjectSummary> objects);
/// Keys as they were asked for, in order.
Result<std::vector<ObjectSummary>> decode_list_objects_answer(std::span<const std::byte> body,
                                                              const ListObjectsRequest& asked);

FrameBuffer encode_delete_object(const DeleteObjectRequest& request);
Result<DeleteObjectRequest> decode_delete_object(std::span<const std::byte> body);
FrameBuffer encode_delete_object_answer(ObjectGeneration deleted);
Result<ObjectGeneration> decode_delete_object_answer(std::span<const std::byte> body);

FrameBuffer encode_read_stripes(const ReadStripesRequest& request);
Result<ReadStripesRequest> decode_read_stripes(std::span<const std::byte> body);
FrameBuffer encode_read_stripes_answer(const PushReceipt& receipt);
/// `ordered`: bytes; a receipt for others is none.
Result<PushReceipt> decode_read_stripes_answer(std::span<const std::byte> body,
                                               std::uint64_t ordered);

}  // namespace corail
