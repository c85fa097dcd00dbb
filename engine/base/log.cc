#include "engine/base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "engine/base/clock.h"

namespace corail {
namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::warn;
}

/// An own logger, not spdlog's default one: an embedder's registry is not ours to change.
spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("corail",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::warn);
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e corail %l %v");
    return made;
  }();
  return *instance;
}

}  // namespace

void set_log_level(LogLevel level) noexcept { logger().set_level(to_spdlog(level)); }

bool log_enabled(LogLevel level) noexcept { return logger().should_log(to_spdlog(level)); }

void write_log(LogLevel level, std::string_view line) {
  logger().log(to_spdlog(level), spdlog::string_view_t(line.data(), line.size()));
}

std::optional<std::uint64_t> LogLimiter::admit(std::string_view key, Time now) {
  const std::lock_guard lock(mutex_);
  auto found = budgets_.find(key);
  if (found == budgets_.end()) {
    const std::string_view counted = budgets_.size() < kMaxKeys ? key : std::string_view();
    found = budgets_.try_emplace(std::string(counted)).first;
  }
  Budget& budget = found->second;
  if (budget.lines == 0 || now - budget.begin >= kInterval) {
    budget.begin = now;
    budget.lines = 0;
  }
  if (budget.lines >= kLines) {
    ++budget.left_out;
    return std::nullopt;
  }
  ++budget.lines;
  return std::exchange(budget.left_out, 0);
}

std::optional<std::uint64_t> admit_log(std::string_view key) {
  static LogLimiter limiter;
  return limiter.admit(key, machine_now());
}

}  // namespace corail
