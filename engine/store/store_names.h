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

/// The same in the first directory of a store that is being made: until it is gone, the heads of
/// the other directories belong to a store that does not exist yet.
inline constexpr std::string_view kUnfinishedName = "store.new";

/// While a record is being written.
std::string temporary_name(std::string_view name);
bool is_temporary(std::string_view name);

/// The manifest of a key. Keys whose hashes are equal differ in `number`, from 0.
std::string manifest_name(std::string_view key, std::uint32_t number);
bool is_manifest(std::string_view name);
/// Whether a manifest of that name may be the key's.
bool is_manifest_of(std::string_view name, std::string_view key);

/// A manifest that could not be read, set aside for people by a start. `bound`: no generation from
/// there on had been used then, so it is none of its own.
std::string bad_name(std::string_view manifest, std::uint64_t bound);
/// The bound of a file with such a name; nothing for all others.
std::optional<std::uint64_t> bound_of_bad(std::string_view name);

/// The stripes of one generation on one device.
std::string stripes_name(ObjectGeneration generation);
std::optional<ObjectGeneration> generation_of(std::string_view name);

}  // namespace corail::detail
