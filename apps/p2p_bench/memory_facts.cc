#include "apps/p2p_bench/memory_facts.h"

#include <fmt/core.h>

#include <algorithm>

namespace corail::bench {
namespace {

bool contains(const std::string& text, const char* what) {
  return text.find(what) != std::string::npos;
}

}  // namespace

std::optional<MemoryFacts> memory_facts(const std::vector<std::string>& descriptions,
                                        bool huge_pages_asked) {
  if (descriptions.empty()) return std::nullopt;
  MemoryFacts facts;
  facts.huge_pages = facts.numa_bound = true;
  std::size_t left_out = 0;
  for (const std::string& text : descriptions) {
    // The words of Slab::describe(), which a test compares with its accessors.
    const bool huge = contains(text, ", huge pages,");
    const bool bound = !contains(text, " as a label only (") && !contains(text, ", any NUMA node");
    facts.huge_pages = facts.huge_pages && huge;
    facts.numa_bound = facts.numa_bound && bound;
    const bool lacking = !bound || (huge_pages_asked && !huge);
    if (!lacking || std::ranges::find(facts.missing, text) != facts.missing.end()) continue;
    if (facts.missing.size() + 1 < kMaxMissing) {
      facts.missing.push_back(text);
    } else {
      ++left_out;
    }
  }
  if (left_out != 0) facts.missing.push_back(fmt::format("and {} more slabs", left_out));
  return facts;
}

nlohmann::json encode_memory(const std::optional<MemoryFacts>& facts) {
  if (!facts) return nullptr;
  return {{"huge_pages", facts->huge_pages},
          {"numa_bound", facts->numa_bound},
          {"missing", facts->missing}};
}

std::optional<MemoryFacts> decode_memory(const nlohmann::json& json) {
  const auto is_flag = [&json](const char* key) {
    return json.contains(key) && json[key].is_boolean();
  };
  if (!json.is_object() || !is_flag("huge_pages") || !is_flag("numa_bound")) return std::nullopt;
  if (!json.contains("missing") || !json["missing"].is_array()) return std::nullopt;
  MemoryFacts facts;
  facts.huge_pages = json["huge_pages"].get<bool>();
  facts.numa_bound = json["numa_bound"].get<bool>();
  for (const auto& line : json["missing"]) {
    if (!line.is_string() || facts.missing.size() == kMaxMissing) return std::nullopt;
    facts.missing.push_back(line.get<std::string>());
  }
  return facts;
}

}  // namespace corail::bench
