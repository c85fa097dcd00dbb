#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace corail {

/// Below that a comparison sort is as fast.
inline constexpr std::size_t kLeastSpread = 64;
/// So many in one bucket are sorted by insertion; more of them are spread again, over their own
/// range.
inline constexpr std::uint32_t kFullBucket = 16;
/// Keys that so many passes have not spread are sorted by comparing.
inline constexpr int kMostSpreads = 3;

namespace detail {

template <typename Item, typename KeyOf>
void spread(std::span<Item> items, std::span<Item> scratch, KeyOf& key_of, int passes) {
  const auto before = [&key_of](const Item& a, const Item& b) { return key_of(a) < key_of(b); };
  if (items.size() < kLeastSpread || passes == 0) {
    std::sort(items.begin(), items.end(), before);
    return;
  }
  const auto [least, most] = std::minmax_element(items.begin(), items.end(), before);
  const std::uint64_t low = key_of(*least);
  const std::uint64_t range = key_of(*most) - low;
  if (range == 0) return;
  // One to four buckets an item.
  const auto bits_of = [](std::uint64_t value) { return static_cast<int>(std::bit_width(value)); };
  const int shift = std::max(bits_of(range) - bits_of(items.size()) - 1, 0);
  const auto bucket_of = [&](const Item& item) {
    return static_cast<std::size_t>((key_of(item) - low) >> shift);
  };
  std::vector<std::uint32_t> places((range >> shift) + 1);
  for (const Item& item : items) ++places[bucket_of(item)];
  std::uint32_t next = 0;
  for (std::uint32_t& place : places) next += std::exchange(place, next);
  for (Item& item : items) scratch[places[bucket_of(item)]++] = std::move(item);
  std::move(scratch.begin(), scratch.end(), items.begin());
  std::size_t begin = 0;
  for (const std::uint32_t end : places) {
    const std::size_t count = end - begin;
    if (count > kFullBucket) {
      spread(items.subspan(begin, count), scratch.subspan(begin, count), key_of, passes - 1);
    }
    begin = end;
  }
  for (std::size_t i = 1; i < items.size(); ++i) {
    for (std::size_t at = i; at > 0 && before(items[at], items[at - 1]); --at) {
      std::swap(items[at], items[at - 1]);
    }
  }
}

}  // namespace detail

/// Sorts by an unsigned 64-bit key, in no particular order where keys are equal. Meant for
/// addresses of equal blocks in any order, which are spread evenly within a few areas: a pass finds
/// the areas, another puts each item near where it belongs, so that it costs O(n). However the keys
/// are, it is std::sort and a few passes at most. Needs as much memory again; throws
/// std::bad_alloc, and then the items are in any order.
template <typename Item, typename KeyOf>
void sort_spread(std::vector<Item>& items, KeyOf key_of) {
  const auto before = [&key_of](const Item& a, const Item& b) { return key_of(a) < key_of(b); };
  if (std::is_sorted(items.begin(), items.end(), before)) return;
  if (items.size() < kLeastSpread || items.size() > std::numeric_limits<std::uint32_t>::max()) {
    std::sort(items.begin(), items.end(), before);
    return;
  }
  std::vector<Item> scratch(items.size());
  detail::spread(std::span(items), std::span(scratch), key_of, kMostSpreads);
}

}  // namespace corail
