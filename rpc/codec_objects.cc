// LookupObject, ListObjects and DeleteObject.
#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/base/units.h"
#include "engine/object/descriptor_check.h"
#include "proto/corail/v1/objects.pb.h"
#include "rpc/codec_fields.h"
#include "rpc/codec_object_fields.h"
#include "rpc/object_codec.h"

namespace corail {
namespace {

constexpr std::string_view kLookup = "LookupObjectRequest";
constexpr std::string_view kDescriptor = "ObjectDescriptor";
constexpr std::string_view kList = "ListObjectsRequest";
constexpr std::string_view kListed = "ListObjectsAnswer";
constexpr std::string_view kDelete = "DeleteObjectRequest";
constexpr std::string_view kDeleted = "DeleteObjectAnswer";

/// Generated code spends a multiple of an address's bytes on it, so they are counted first (I8).
Result<void> check_nodes(std::span<const std::byte> body) {
  std::size_t nodes = 0;
  WireReader reader(body);
  while (reader.next()) {
    if (reader.field() != v1::ObjectDescriptor::kNodesFieldNumber) continue;
    if (++nodes > kMaxObjectNodes) {
      return codec::field_error(kDescriptor, "nodes", "has more than the {} elements allowed",
                                kMaxObjectNodes);
    }
    auto few = codec::check_count(kDescriptor, "nodes.addresses", reader.bytes(),
                                  v1::ObjectNode::kAddressesFieldNumber, kMaxNodeAddresses);
    if (!few.ok()) return few;
  }
  if (!reader.ok()) return codec::malformed(kDescriptor);
  return ok_result();
}

Result<void> check_stripe_arrays(const v1::ObjectDescriptor& message) {
  const int stripes = message.stripe_nodes_size();
  if (static_cast<std::size_t>(stripes) > kMaxObjectStripes) {
    return codec::field_error(kDescriptor, "stripe_nodes",
                              "has {} elements, more than the {} allowed", stripes,
                              kMaxObjectStripes);
  }
  for (const int other : {message.stripe_devices_size(), message.stripe_offsets_size(),
                          message.stripe_checksums_size()}) {
    if (other == stripes) continue;
    return codec::field_error(kDescriptor, "stripe_nodes",
                              "has {} elements, and another array of stripes has {}", stripes,
                              other);
  }
  return ok_result();
}

ObjectChunk chunk_of(const v1::ObjectDescriptor& message, int stripe) {
  ObjectChunk chunk;
  chunk.node = message.stripe_nodes(stripe);
  chunk.device = message.stripe_devices(stripe);
  chunk.offset = message.stripe_offsets(stripe);
  chunk.checksum = Checksum64(message.stripe_checksums(stripe));
  const auto index = static_cast<std::uint64_t>(stripe);
  // A stripe behind the object's end has nothing, which check_descriptor() refuses.
  const std::uint64_t begin = checked_mul(index, message.stripe_size()).value_or(message.size());
  if (begin < message.size()) {
    chunk.length = std::min(message.size() - begin, message.stripe_size());
  }
  return chunk;
}

}  // namespace

FrameBuffer encode_lookup_object(const std::string& key) {
  v1::LookupObjectRequest message;
  message.set_key(key);
  return codec::to_frame(message);
}

Result<std::string> decode_lookup_object(std::span<const std::byte> body) {
  v1::LookupObjectRequest message;
  const auto parsed = codec::parse(kLookup, body, message);
  if (!parsed.ok()) return parsed.error();
  auto checked = codec::check_key(kLookup, message.key());
  if (!checked.ok()) return std::move(checked).error();
  return std::move(*message.mutable_key());
}

FrameBuffer encode_descriptor(const ObjectDescriptor& object) {
  v1::ObjectDescriptor message;
  message.set_size(object.size);
  message.set_generation(object.generation.value());
  message.set_stripe_size(object.stripe_size);
  for (const ObjectNode& node : object.nodes) {
    v1::ObjectNode& entry = *message.add_nodes();
    entry.set_id(node.id.value());
    for (const std::string& address : node.addresses) entry.add_addresses(address);
  }
  for (const ObjectChunk& chunk : object.chunks) {
    message.add_stripe_nodes(chunk.node);
    message.add_stripe_devices(chunk.device);
    message.add_stripe_offsets(chunk.offset);
    message.add_stripe_checksums(chunk.checksum.value());
  }
  return codec::to_frame(message);
}

Result<ObjectDescriptor> decode_descriptor(std::span<const std::byte> body, std::string key) {
  const auto few = check_nodes(body);
  if (!few.ok()) return few.error();
  v1::ObjectDescriptor message;
  const auto parsed = codec::parse(kDescriptor, body, message);
  if (!parsed.ok()) return parsed.error();
  const auto even = check_stripe_arrays(message);
  if (!even.ok()) return even.error();
  ObjectDescriptor object;
  object.key = std::move(key);
  object.size = message.size();
  object.generation = ObjectGeneration(message.generation());
  object.stripe_size = message.stripe_size();
  object.nodes.reserve(static_cast<std::size_t>(message.nodes_size()));
  for (const v1::ObjectNode& node : message.nodes()) {
    ObjectNode entry;
    entry.id = NodeId(node.id());
    entry.addresses.assign(node.addresses().begin(), node.addresses().end());
    object.nodes.push_back(std::move(entry));
  }
  object.chunks.reserve(static_cast<std::size_t>(message.stripe_nodes_size()));
  for (int i = 0; i < message.stripe_nodes_size(); ++i) {
    object.chunks.push_back(chunk_of(message, i));
  }
  auto sound = check_descriptor(object);
  if (!sound.ok()) return std::move(sound).error();
  return object;
}

FrameBuffer encode_list_objects(const ListObjectsRequest& request) {
  v1::ListObjectsRequest message;
  message.set_prefix(request.prefix);
  message.set_after(request.after);
  message.set_most(request.most);
  return codec::to_frame(message);
}

Result<ListObjectsRequest> decode_list_objects(std::span<const std::byte> body) {
  v1::ListObjectsRequest message;
  const auto parsed = codec::parse(kList, body, message);
  if (!parsed.ok()) return parsed.error();
  auto fits = codec::check_length(kList, "prefix", message.prefix().size(), kMaxObjectKeyBytes);
  if (!fits.ok()) return std::move(fits).error();
  fits = codec::check_length(kList, "after", message.after().size(), kMaxObjectKeyBytes);
  if (!fits.ok()) return std::move(fits).error();
  if (message.most() < 1 || message.most() > kMaxListedObjects) {
    return codec::field_error(kList, "most", "is {}, outside of 1 to {}", message.most(),
                              kMaxListedObjects);
  }
  ListObjectsRequest request;
  request.prefix = std::move(*message.mutable_prefix());
  request.after = std::move(*message.mutable_after());
  request.most = message.most();
  return request;
}

FrameBuffer encode_list_objects_answer(std::span<const ObjectSummary> objects) {
  v1::ListObjectsAnswer message;
  for (const ObjectSummary& object : objects) {
    v1::ListedObject& entry = *message.add_objects();
    entry.set_key(object.key);
    entry.set_size(object.size);
    entry.set_generation(object.generation.value());
  }
  return codec::to_frame(message);
}

Result<std::vector<ObjectSummary>> decode_list_objects_answer(std::span<const std::byte> body,
                                                              const ListObjectsRequest& asked) {
  const auto few = codec::check_count(kListed, "objects", body,
                                      v1::ListObjectsAnswer::kObjectsFieldNumber, asked.most);
  if (!few.ok()) return few.error();
  v1::ListObjectsAnswer message;
  const auto parsed = codec::parse(kListed, body, message);
  if (!parsed.ok()) return parsed.error();
  std::vector<ObjectSummary> objects;
  objects.reserve(static_cast<std::size_t>(message.objects_size()));
  for (v1::ListedObject& entry : *message.mutable_objects()) {
    auto checked = codec::check_key(kListed, entry.key());
    if (!checked.ok()) return std::move(checked).error();
    const std::string& before = objects.empty() ? asked.after : objects.back().key;
    if (!entry.key().starts_with(asked.prefix) || entry.key() <= before) {
      return codec::field_error(kListed, "objects",
                                "has a key at {} that was not asked for, or is out of order",
                                objects.size());
    }
    if (entry.generation() == 0) {
      return codec::field_error(kListed, "objects", "has generation 0 at {}", objects.size());
    }
    objects.push_back(
        {std::move(*entry.mutable_key()), entry.size(), ObjectGeneration(entry.generation())});
  }
  return objects;
}

FrameBuffer encode_delete_object(const DeleteObjectRequest& request) {
  v1::DeleteObjectRequest message;
  message.set_key(request.key);
  if (request.if_generation) message.set_if_generation(request.if_generation->value());
  return codec::to_frame(message);
}

Result<DeleteObjectRequest> decode_delete_object(std::span<const std::byte> body) {
  v1::DeleteObjectRequest message;
  const auto parsed = codec::parse(kDelete, body, message);
  if (!parsed.ok()) return parsed.error();
  auto checked = codec::check_key(kDelete, message.key());
  if (!checked.ok()) return std::move(checked).error();
  DeleteObjectRequest request;
  request.key = std::move(*message.mutable_key());
  if (message.if_generation() != 0) {
    request.if_generation = ObjectGeneration(message.if_generation());
  }
  return request;
}

FrameBuffer encode_delete_object_answer(ObjectGeneration deleted) {
  v1::DeleteObjectAnswer message;
  message.set_generation(deleted.value());
  return codec::to_frame(message);
}

Result<ObjectGeneration> decode_delete_object_answer(std::span<const std::byte> body) {
  v1::DeleteObjectAnswer message;
  const auto parsed = codec::parse(kDeleted, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.generation() == 0) return codec::field_error(kDeleted, "generation", "is 0");
  return ObjectGeneration(message.generation());
}

}  // namespace corail
