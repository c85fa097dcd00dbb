#pragma once

#include <fmt/core.h>

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

}  // namespace corail
