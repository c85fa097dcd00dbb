#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/object/object_descriptor.h"

namespace corail::detail {

// The names of a store's files. All others in its directories are somebody else's: they are left
// alone.

/// What a directory says of itself, see StoreHead.
inline constexpr std::string_view kHeadName = "store";

/// While a record is being written.
std::string temporary_name(std::string_view name);
bool is_temporary(std::string_view name);

/// The manifest of a key. Keys whose hashes are equal differ in `number`, from 0.
std::string manifest_name(std::string_view key, std::uint32_t number);
bool is_manifest(std::string_view name);
/// Whether a manifest of that name may be the key's.
bool is_manifest_of(std::string_view name, std::string_view key);

/// The stripes of one generation on one device.
std::string stripes_name(ObjectGeneration generation);
std::optional<ObjectGeneration> generation_of(std::string_view name);

}  // namespace corail::detail
