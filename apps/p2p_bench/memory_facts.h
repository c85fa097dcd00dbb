#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace corail::bench {

/// What the slabs of one side really are, where the kernel may have given less than was asked for.
struct MemoryFacts {
  bool huge_pages = false;  // reserved huge pages back every slab
  bool numa_bound = false;  // every slab lies on its NUMA node; else some node is a label only
  /// Distinct descriptions of slabs that lack what was asked for.
  std::vector<std::string> missing;
};

/// The most entries of MemoryFacts::missing (I8); the last one then counts the rest.
inline constexpr std::size_t kMaxMissing = 8;

/// From the lines of SlabPool::describe() or BlockStore::describe(); nothing without slabs.
std::optional<MemoryFacts> memory_facts(const std::vector<std::string>& descriptions,
                                        bool huge_pages_asked);

/// {"huge_pages": bool, "numa_bound": bool, "missing": [text]}, or null for what is unknown.
nlohmann::json encode_memory(const std::optional<MemoryFacts>& facts);
/// Nothing for null and for what is no such object.
std::optional<MemoryFacts> decode_memory(const nlohmann::json& json);

}  // namespace corail::bench
