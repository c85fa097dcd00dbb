#include "test/sim/destination_map.h"

#include "engine/base/units.h"

namespace corail::sim {
namespace {

constexpr std::uint64_t kPage = 4 * kKiB;
constexpr std::uint64_t kCanarySeed = 0xC0FFEE;

std::byte* memory_of(std::uint64_t page) noexcept {
  return reinterpret_cast<std::byte*>(page * kPage);  // NOLINT: an address that was posted
}

template <typename F>
void for_each_page(const std::byte* at, std::uint64_t length, F f) {
  const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(at);
  for (std::uint64_t page = begin / kPage; page * kPage < begin + length; ++page) f(page);
}

}  // namespace

void DestinationMap::check_canary(std::uint64_t number, const Page& page) {
  const std::uint64_t changed = page.canary->changed_bytes();
  if (changed == 0) return;
  journal_.violate(1, fmt::format("{} bytes of page {:#x} changed after fetch {} had returned",
                                  changed, number * kPage, page.fetch));
}

void DestinationMap::claim(std::uint64_t number, Page& page, std::uint64_t fetch) {
  if (page.use == Use::kCanary) check_canary(number, page);
  if (page.use == Use::kQuarantined) {
    journal_.violate(1, fmt::format("fetch {} posts into quarantined memory", fetch));
  }
  if (page.use == Use::kHeld) {
    journal_.violate(1, fmt::format("fetch {} posts into the view of fetch {}", fetch, page.fetch));
  }
  if (page.use == Use::kReading && page.posted > 0) {
    journal_.violate(6, fmt::format("fetch {} was given memory into which fetch {} has {} slices "
                                    "posted",
                                    fetch, page.fetch, page.posted));
  }
  page = Page();
  page.fetch = fetch;
  of_fetch_[fetch].push_back(number);
}

void DestinationMap::posted(const std::byte* at, std::uint64_t length, std::uint64_t fetch) {
  for_each_page(at, length, [&](std::uint64_t number) {
    const auto [entry, added] = pages_.try_emplace(number);
    Page& page = entry->second;
    if (added || page.fetch != fetch || page.use != Use::kReading) claim(number, page, fetch);
    ++page.posted;
  });
}

void DestinationMap::ended(const std::byte* at, std::uint64_t length, std::uint64_t fetch) {
  for_each_page(at, length, [&](std::uint64_t number) {
    const auto found = pages_.find(number);
    if (found == pages_.end() || found->second.fetch != fetch) return;
    if (found->second.posted > 0) --found->second.posted;
  });
}

void DestinationMap::set_use(std::uint64_t fetch, Use use) {
  for (const std::uint64_t number : of_fetch_[fetch]) {
    Page& page = pages_.at(number);
    if (page.fetch != fetch) continue;  // another read has it by now
    page.use = use;
    if (use == Use::kCanary) page.canary.emplace(std::span(memory_of(number), kPage), kCanarySeed);
  }
}

void DestinationMap::hold(std::uint64_t fetch) { set_use(fetch, Use::kHeld); }
void DestinationMap::give_back(std::uint64_t fetch) { set_use(fetch, Use::kCanary); }
void DestinationMap::quarantine(std::uint64_t fetch) { set_use(fetch, Use::kQuarantined); }

void DestinationMap::check() {
  for (const auto& [number, page] : pages_) {
    if (page.use == Use::kCanary) check_canary(number, page);
  }
}

}  // namespace corail::sim
