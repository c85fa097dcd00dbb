#include "rpc/manifest/codec_manifest.h"

#include <fmt/core.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/checksum.h"
#include "engine/object/descriptor_check.h"
#include "engine/object/placement.h"
#include "proto/corail/v1/manifest.pb.h"

namespace corail {
namespace {

// What kind of body an envelope has: "MANI" and "HEAD", each with the version of its format.
constexpr std::uint32_t kManifestKind = 0x4D414E01;
constexpr std::uint32_t kHeadKind = 0x48454101;

Error bad(std::string what) { return Error(Errc::kBadManifest, std::move(what)); }

std::vector<std::byte> sealed(std::uint32_t kind, const google::protobuf::MessageLite& body) {
  v1::StoreFile file;
  file.set_kind(kind);
  body.SerializeToString(file.mutable_body());
  file.set_checksum(xxh3_64(std::string_view(file.body())));
  std::vector<std::byte> bytes(file.ByteSizeLong());
  file.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(bytes.data()));
  return bytes;
}

/// The body of an envelope of this kind whose checksum is right.
Result<std::string> opened(std::uint32_t kind, std::span<const std::byte> bytes) {
  if (bytes.size() > kMaxManifestBytes) {
    return bad(
        fmt::format("it has {} bytes, more than the {} allowed", bytes.size(), kMaxManifestBytes));
  }
  v1::StoreFile file;
  if (!file.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return bad(fmt::format("its {} bytes are no record of a store", bytes.size()));
  }
  if (file.kind() != kind) {
    return bad(
        fmt::format("it is of kind {:08x} where {:08x} is expected: another kind of file, or "
                    "of another version",
                    file.kind(), kind));
  }
  const std::uint64_t found = xxh3_64(std::string_view(file.body()));
  if (file.checksum() != found) {
    return bad(fmt::format("its content hashes to {:016x}, but its checksum is {:016x}", found,
                           file.checksum()));
  }
  return std::move(*file.mutable_body());
}

/// Bytes of all nodes together, at most: each with as many addresses of as many bytes as it may
/// have.
constexpr std::uint64_t kMaxNodeBytes =
    kMaxObjectNodes * (16 + kMaxNodeAddresses * (kMaxNodeAddressBytes + 3));

/// Generated code spends a multiple of a node's bytes on it, so they are counted first (I8).
Result<void> check_node_count(const std::string& body) {
  using google::protobuf::internal::WireFormatLite;
  constexpr std::uint32_t kNode = WireFormatLite::MakeTag(
      v1::StripingInfo::kNodesFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(body.data()),
                                            static_cast<int>(body.size()));
  std::uint64_t nodes = 0;
  std::uint64_t bytes = 0;
  for (std::uint32_t tag = in.ReadTag(); tag != 0; tag = in.ReadTag()) {
    const int begin = in.CurrentPosition();
    if (!WireFormatLite::SkipField(&in, tag)) break;  // which the parser finds, too
    if (tag != kNode) continue;
    ++nodes;
    bytes += static_cast<std::uint64_t>(in.CurrentPosition() - begin);
  }
  if (nodes <= kMaxObjectNodes && bytes <= kMaxNodeBytes) return ok_result();
  return bad(fmt::format("it has {} nodes of {} bytes in all, more than the {} of {} bytes allowed",
                         nodes, bytes, kMaxObjectNodes, kMaxNodeBytes));
}

Result<void> check_stripe_arrays(const v1::StripingInfo& message) {
  const int stripes = message.stripe_nodes_size();
  for (const int other : {message.stripe_devices_size(), message.stripe_offsets_size(),
                          message.stripe_checksums_size()}) {
    if (other != stripes) {
      return bad(fmt::format("it has nodes of {} stripes, but another array of them has {}",
                             stripes, other));
    }
  }
  return ok_result();
}

ObjectChunk chunk_of(const v1::StripingInfo& message, int stripe) {
  ObjectChunk chunk;
  chunk.node = message.stripe_nodes(stripe);
  chunk.device = message.stripe_devices(stripe);
  chunk.offset = message.stripe_offsets(stripe);
  chunk.checksum = Checksum64(message.stripe_checksums(stripe));
  const std::uint64_t index = static_cast<std::uint64_t>(stripe);
  // A stripe beyond the object's end has nothing, which check_striping() then refuses.
  const std::uint64_t begin = checked_mul(index, message.stripe_size()).value_or(message.size());
  if (begin < message.size())
    chunk.length = std::min(message.size() - begin, message.stripe_size());
  return chunk;
}

}  // namespace

std::vector<std::byte> ProtobufManifestCodec::encode(const StripingInfo& info) const {
  v1::StripingInfo message;
  const ObjectDescriptor& object = info.object;
  message.set_key(object.key);
  message.set_size(object.size);
  message.set_generation(object.generation.value());
  message.set_stripe_size(object.stripe_size);
  for (const ObjectNode& node : object.nodes) {
    v1::StripingNode* const to = message.add_nodes();
    to->set_id(node.id.value());
    for (const std::string& address : node.addresses) to->add_addresses(address);
  }
  message.set_home(info.home);
  for (const ObjectChunk& chunk : object.chunks) {
    message.add_stripe_nodes(chunk.node);
    message.add_stripe_devices(chunk.device);
    message.add_stripe_offsets(chunk.offset);
    message.add_stripe_checksums(chunk.checksum.value());
  }
  message.mutable_granule_checksums()->Reserve(static_cast<int>(info.granules.size()));
  for (const Checksum64 granule : info.granules) message.add_granule_checksums(granule.value());
  return sealed(kManifestKind, message);
}

Result<StripingInfo> ProtobufManifestCodec::decode(std::span<const std::byte> bytes) const {
  const auto body = opened(kManifestKind, bytes);
  if (!body) return body.error();
  if (auto few = check_node_count(*body); !few) return few.error();
  v1::StripingInfo message;
  if (!message.ParseFromString(*body)) return bad("its content is no StripingInfo");
  if (auto even = check_stripe_arrays(message); !even) return even.error();

  StripingInfo info;
  info.object.key = message.key();
  info.object.size = message.size();
  info.object.generation = ObjectGeneration(message.generation());
  info.object.stripe_size = message.stripe_size();
  for (const v1::StripingNode& node : message.nodes()) {
    info.object.nodes.push_back(
        {NodeId(node.id()), {node.addresses().begin(), node.addresses().end()}});
  }
  info.home = message.home();
  info.object.chunks.reserve(static_cast<std::size_t>(message.stripe_nodes_size()));
  for (int i = 0; i < message.stripe_nodes_size(); ++i) {
    info.object.chunks.push_back(chunk_of(message, i));
  }
  info.granules.reserve(static_cast<std::size_t>(message.granule_checksums_size()));
  for (const std::uint64_t granule : message.granule_checksums()) {
    info.granules.emplace_back(granule);
  }
  if (auto sound = check_striping(info); !sound) return sound.error();
  return info;
}

std::vector<std::byte> ProtobufManifestCodec::encode_head(const StoreHead& head) const {
  v1::StoreHead message;
  message.set_store(head.store);
  message.set_device(head.device);
  message.set_devices(head.devices);
  message.set_unused_generation(head.unused_generation);
  return sealed(kHeadKind, message);
}

Result<StoreHead> ProtobufManifestCodec::decode_head(std::span<const std::byte> bytes) const {
  const auto body = opened(kHeadKind, bytes);
  if (!body) return body.error();
  v1::StoreHead message;
  if (!message.ParseFromString(*body)) return bad("its content is no StoreHead");
  if (message.unused_generation() == 0) return bad("its StoreHead.unused_generation is 0");
  if (message.device() >= message.devices()) {
    return bad(fmt::format("it says that it is device {} of {}, counted from 0", message.device(),
                           message.devices()));
  }
  return StoreHead{message.store(), message.device(), message.devices(),
                   message.unused_generation()};
}

}  // namespace corail
