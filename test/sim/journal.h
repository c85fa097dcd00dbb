#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/checksum.h"
#include "engine/base/clock.h"

namespace corail::sim {

/// A broken promise. `invariant` is the number in the design's list, I1 to I10; 0 is a leak at the
/// end of a seed, a crash, or a store that does not find what was committed, or finds more.
struct Violation {
  int invariant = 0;
  std::string what;
  TimePoint when;  // since the seed's begin
};

/// What happened in one seed: one line an event if they are asked for, a digest of them all, and
/// the first violation.
class Journal {
 public:
  Journal(const Clock& clock, bool print) : clock_(clock), begin_(clock.now()), print_(print) {}

  template <typename... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    digest_ = mix64(digest_ ^ static_cast<std::uint64_t>(since_begin().count()));
    if (print_) write(fmt::format(format, std::forward<Args>(args)...));
  }

  /// Only the first one counts: the others follow from it, as a rule.
  void violate(int invariant, std::string what);

  const std::optional<Violation>& violation() const noexcept { return violation_; }
  /// Equal for runs that did the same at the same times.
  std::uint64_t digest() const noexcept { return digest_; }
  Duration since_begin() const noexcept { return clock_.now() - begin_; }

 private:
  void write(const std::string& line) const;

  const Clock& clock_;
  const TimePoint begin_;
  const bool print_;
  std::uint64_t digest_ = 0;
  std::optional<Violation> violation_;
};

}  // namespace corail::sim
