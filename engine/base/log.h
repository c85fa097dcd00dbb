#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace corail {

enum class LogLevel { kDebug, kInfo, kWarning, kError, kOff };

/// Lines below this level are dropped. Process-wide; default kWarning. Thread-safe.
void set_log_level(LogLevel level) noexcept;
bool log_enabled(LogLevel level) noexcept;
/// Writes one line to standard error. Thread-safe.
void write_log(LogLevel level, std::string_view line);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) write_log(level, fmt::format(format, std::forward<Args>(args)...));
}

/// Which lines of those that somebody else can provoke are worth writing: the first few of a key in
/// an interval. Time is an argument. Thread-safe.
class LogLimiter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::uint32_t kLines = 5;
  static constexpr std::chrono::seconds kInterval{10};
  /// Keys that are told apart (I8); all others share one budget.
  static constexpr std::size_t kMaxKeys = 64;

  /// Whether a line of this key may be written now: the number of those left out since the last one
  /// that might, or nothing. `key` names the kind of line, not who caused it: a peer has many
  /// names.
  std::optional<std::uint64_t> admit(std::string_view key, Time now);

 private:
  struct Budget {
    Time begin;  // of the interval
    std::uint32_t lines = 0;
    std::uint64_t left_out = 0;
  };

  std::mutex mutex_;
  std::map<std::string, Budget, std::less<>> budgets_;
};

/// Asks the process's limiter. Thread-safe.
std::optional<std::uint64_t> admit_log(std::string_view key);

/// log() for what a peer can provoke as often as it likes: at most LogLimiter::kLines lines of a
/// key in an interval, and then how many were left out.
template <typename... Args>
void log_limited(std::string_view key, LogLevel level, fmt::format_string<Args...> format,
                 Args&&... args) {
  if (!log_enabled(level)) return;
  const auto left_out = admit_log(key);
  if (!left_out) return;
  std::string line = fmt::format(format, std::forward<Args>(args)...);
  if (*left_out > 0) line += fmt::format(" ({} lines like this were left out before)", *left_out);
  write_log(level, line);
}

}  // namespace corail
