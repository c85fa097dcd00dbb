#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/object/manifest_codec.h"

namespace corail {

/// A store's records as Protobuf messages inside an envelope with a checksum, see
/// proto/corail/v1/manifest.proto. Stateless; any thread.
class ProtobufManifestCodec final : public ManifestCodec {
 public:
  std::vector<std::byte> encode(const StripingInfo& info) const override;
  Result<StripingInfo> decode(std::span<const std::byte> bytes) const override;
  std::vector<std::byte> encode_head(const StoreHead& head) const override;
  Result<StoreHead> decode_head(std::span<const std::byte> bytes) const override;
};

}  // namespace corail
