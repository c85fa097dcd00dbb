#include "test/sim/journal.h"

#include <cstdio>

namespace corail::sim {

void Journal::violate(int invariant, std::string what) {
  event("violation of I{}: {}", invariant, what);
  if (violation_) return;
  Violation violation;
  violation.invariant = invariant;
  violation.what = std::move(what);
  violation.when = TimePoint(since_begin());
  violation_ = std::move(violation);
}

void Journal::write(const std::string& line) const {
  const auto nanoseconds = since_begin().count();
  fmt::print("{:>7}.{:06} ms  {}\n", nanoseconds / 1'000'000, nanoseconds % 1'000'000, line);
  // The last line before a crash is the one that is wanted.
  std::fflush(stdout);
}

}  // namespace corail::sim
