#include "test/sim/seed_result.h"

#include <fmt/core.h>

#include <sstream>
#include <utility>

namespace corail::sim {

void SeedCounts::add(const SeedCounts& more) {
  fetches += more.fetches;
  successes += more.successes;
  bytes += more.bytes;
  saves += more.saves;
  links += more.links;
  shared += more.shared;
  restarts += more.restarts;
  pushes += more.pushes;
  for (const auto& [code, count] : more.failures) failures[code] += count;
}

std::string encode(const SeedResult& result) {
  const SeedCounts& counts = result.counts;
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {}\n", result.digest, result.steps, counts.fetches,
                  counts.successes, counts.bytes, counts.saves, counts.links, counts.shared,
                  counts.restarts, counts.pushes, counts.failures.size());
  for (const auto& [code, count] : counts.failures) text += fmt::format("{} {}\n", count, code);
  if (result.violation) {
    text += fmt::format("{} {} {}\n", result.violation->invariant,
                        result.violation->when.time_since_epoch().count(), result.violation->what);
  }
  return text;
}

std::optional<SeedResult> decode(const std::string& text) {
  std::istringstream in(text);
  SeedResult result;
  SeedCounts& counts = result.counts;
  std::size_t failures = 0;
  in >> result.digest >> result.steps >> counts.fetches >> counts.successes >> counts.bytes >>
      counts.saves >> counts.links >> counts.shared >> counts.restarts >> counts.pushes >> failures;
  const auto rest_of_line = [&in] {
    std::string rest;
    std::getline(in >> std::ws, rest);
    return rest;
  };
  for (std::size_t i = 0; i < failures && in; ++i) {
    std::uint64_t count = 0;
    in >> count;
    counts.failures[rest_of_line()] = count;
  }
  if (!in) return std::nullopt;
  Violation violation;
  Duration::rep when = 0;
  if (in >> violation.invariant >> when) {
    violation.what = rest_of_line();
    violation.when = TimePoint(Duration(when));
    result.violation = std::move(violation);
  }
  return result;
}

}  // namespace corail::sim
