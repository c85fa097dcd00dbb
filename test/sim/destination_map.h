#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "test/sim/journal.h"
#include "test/support/canary.h"

namespace corail::sim {

/// Whose the pages of a requester's pool are, as seen from what is posted: every page of a read
/// that ended without a commit gets a canary at once, and keeps it until the pool gives it to
/// another read or the seed ends (I1). Chunks start on pages, so a page has one owner.
class DestinationMap {
 public:
  explicit DestinationMap(Journal& journal) : journal_(journal) {}

  /// A slice was posted, or ended, with this destination.
  void posted(const std::byte* at, std::uint64_t length, std::uint64_t fetch);
  void ended(const std::byte* at, std::uint64_t length, std::uint64_t fetch);

  /// The fetch ended: its pages are a committed view's, nobody's, or lost for ever.
  void hold(std::uint64_t fetch);
  void give_back(std::uint64_t fetch);
  void quarantine(std::uint64_t fetch);

  /// Looks at every canary.
  void check();

 private:
  enum class Use { kReading, kHeld, kCanary, kQuarantined };
  struct Page {
    Use use = Use::kReading;
    std::uint64_t fetch = 0;
    std::uint32_t posted = 0;  // slices
    std::optional<test::Canary> canary;
  };

  void claim(std::uint64_t number, Page& page, std::uint64_t fetch);
  void check_canary(std::uint64_t number, const Page& page);
  void set_use(std::uint64_t fetch, Use use);

  Journal& journal_;
  std::unordered_map<std::uint64_t, Page> pages_;  // by address / page size
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> of_fetch_;
};

}  // namespace corail::sim
