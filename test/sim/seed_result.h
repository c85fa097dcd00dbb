#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "test/sim/journal.h"

namespace corail::sim {

/// What came of the fetches of a seed, so that a simulation in which nothing happens is noticed.
struct SeedCounts {
  std::uint64_t fetches = 0;
  std::uint64_t successes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t saves = 0;
  std::uint64_t links = 0;
  std::uint64_t shared = 0;    // links over a connection that the other node dialed
  std::uint64_t restarts = 0;  // of the holder
  std::uint64_t pushes = 0;    // slices of fetches
  std::map<std::string, std::uint64_t> failures;  // by code

  void add(const SeedCounts& more);
};

struct SeedResult {
  std::optional<Violation> violation;
  std::uint64_t digest = 0;
  std::uint64_t steps = 0;
  SeedCounts counts;
};

/// One line each, for a pipe. What cannot be read is no result.
std::string encode(const SeedResult& result);
std::optional<SeedResult> decode(const std::string& text);

}  // namespace corail::sim
