#pragma once

#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/read/attribution.h"

namespace corail::bench {

/// One line of the sweep: so many rails. Rates in MB/s, of 10^6 bytes.
struct SweepRow {
  std::uint32_t rails = 0;
  double aggregate = 0;
  double balanced = 0;     // what whole stripes would give, each on the first rail that is free
  double theoretical = 0;  // the rails' capacities together
  double speedup = 0;      // aggregate / capacity of the first rail
  double efficiency = 0;   // aggregate / theoretical
  Attribution attribution;
};

/// The rates of `count` rails: the first ones given, from the beginning again where those are
/// fewer. At least one is given.
std::vector<std::uint64_t> cycled(std::span<const std::uint64_t> given, std::uint32_t count);

/// The rate at which rails of these capacities bring an object if no two share a stripe, and a rail
/// that is free takes the next: bytes a second. Sizes in bytes, more than 0.
double whole_stripe_rate(std::uint64_t object_bytes, std::uint64_t stripe_bytes,
                         std::span<const std::uint64_t> rails);

/// All but the attribution, of a read that took so long over rails of these capacities.
SweepRow row_of(std::uint64_t object_bytes, std::uint64_t stripe_bytes,
                std::span<const std::uint64_t> rails, double seconds);

void print_rows(std::FILE* to, std::span<const SweepRow> rows);
nlohmann::ordered_json rows_json(std::span<const SweepRow> rows);
/// A picture of the three rates over the number of rails, as SVG.
std::string rows_svg(std::span<const SweepRow> rows);

}  // namespace corail::bench
