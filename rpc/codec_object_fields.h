#pragma once

// For the codec's own sources only, as codec_fields.h.

#include <string_view>

#include "engine/object/descriptor_check.h"
#include "rpc/codec_fields.h"

namespace corail::codec {

inline Result<void> check_key(std::string_view message, std::string_view key) {
  if (key.empty()) return field_error(message, "key", "is empty");
  return check_length(message, "key", key.size(), kMaxObjectKeyBytes);
}

}  // namespace corail::codec
