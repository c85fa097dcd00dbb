#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corail::detail {

/// Namespaces as small numbers, so that a block names its own in four bytes. A number is free again
/// after its last use. Owned by the store, home executor only.
class NamespaceTable {
 public:
  std::optional<std::uint32_t> find(std::string_view name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) return std::nullopt;
    return found->second;
  }

  /// The number for the name, with one more use; nothing when there are `most` names already.
  std::optional<std::uint32_t> use(std::string_view name, std::size_t most) {
    const auto known = find(name);
    if (known) {
      ++entries_[*known].uses;
      return known;
    }
    if (numbers_.size() >= most) return std::nullopt;
    std::uint32_t number = 0;
    if (free_.empty()) {
      number = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      number = free_.back();
      free_.pop_back();
    }
    entries_[number].uses = 1;
    entries_[number].name = numbers_.emplace(name, number).first;
    return number;
  }

  void drop(std::uint32_t number) {
    Entry& entry = entries_[number];
    if (--entry.uses > 0) return;
    numbers_.erase(entry.name);
    free_.push_back(number);
  }

  const std::string& name(std::uint32_t number) const { return entries_[number].name->first; }

 private:
  using Numbers = std::map<std::string, std::uint32_t, std::less<>>;
  struct Entry {
    std::uint64_t uses = 0;
    Numbers::iterator name;
  };

  Numbers numbers_;
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

}  // namespace corail::detail
