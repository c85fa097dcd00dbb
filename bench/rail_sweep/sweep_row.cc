#include "bench/rail_sweep/sweep_row.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace corail::bench {

std::vector<std::uint64_t> cycled(std::span<const std::uint64_t> given, std::uint32_t count) {
  std::vector<std::uint64_t> rates;
  rates.reserve(count);
  for (std::size_t i = 0; i < count; ++i) rates.push_back(given[i % given.size()]);
  return rates;
}

double whole_stripe_rate(std::uint64_t object_bytes, std::uint64_t stripe_bytes,
                         std::span<const std::uint64_t> rails) {
  std::vector<double> free_at(rails.size(), 0.0);
  for (std::uint64_t at = 0; at < object_bytes; at += stripe_bytes) {
    const auto bytes = static_cast<double>(std::min(stripe_bytes, object_bytes - at));
    const auto first = std::ranges::min_element(free_at);
    *first += bytes / static_cast<double>(rails[static_cast<std::size_t>(first - free_at.begin())]);
  }
  return static_cast<double>(object_bytes) / std::ranges::max(free_at);
}

SweepRow row_of(std::uint64_t object_bytes, std::uint64_t stripe_bytes,
                std::span<const std::uint64_t> rails, double seconds) {
  SweepRow row;
  row.rails = static_cast<std::uint32_t>(rails.size());
  for (const std::uint64_t rate : rails) row.theoretical += static_cast<double>(rate) / 1e6;
  row.aggregate = static_cast<double>(object_bytes) / seconds / 1e6;
  row.balanced = whole_stripe_rate(object_bytes, stripe_bytes, rails) / 1e6;
  row.speedup = row.aggregate / (static_cast<double>(rails.front()) / 1e6);
  row.efficiency = row.aggregate / row.theoretical;
  return row;
}

void print_rows(std::FILE* to, std::span<const SweepRow> rows) {
  fmt::print(to, "{:>5} {:>12} {:>12} {:>12} {:>9} {:>10}  {}\n", "rails", "agg_MB/s", "bal_MB/s",
             "theo_MB/s", "speedup", "efficiency", "bottleneck");
  for (const SweepRow& row : rows) {
    fmt::print(to, "{:>5} {:>12.3f} {:>12.3f} {:>12.3f} {:>9.3f} {:>10.3f}  {}\n", row.rails,
               row.aggregate, row.balanced, row.theoretical, row.speedup, row.efficiency,
               to_string(row.attribution.bottleneck));
  }
}

nlohmann::ordered_json rows_json(std::span<const SweepRow> rows) {
  auto all = nlohmann::ordered_json::array();
  for (const SweepRow& row : rows) {
    all.push_back({{"rails", row.rails},
                   {"agg_mb_s", row.aggregate},
                   {"bal_mb_s", row.balanced},
                   {"theo_mb_s", row.theoretical},
                   {"speedup", row.speedup},
                   {"efficiency", row.efficiency},
                   {"bottleneck", to_string(row.attribution.bottleneck)}});
  }
  return all;
}

}  // namespace corail::bench
