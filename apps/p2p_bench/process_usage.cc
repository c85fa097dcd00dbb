#include "apps/p2p_bench/process_usage.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "apps/p2p_bench/option_values.h"
#include "engine/base/units.h"

namespace corail::bench {
namespace {

/// The most NUMA nodes that are looked for.
constexpr std::uint32_t kMaxNumaNodes = 1024;

std::string text_of(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

}  // namespace

double process_cpu_seconds() noexcept {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::optional<std::uint64_t> kilobytes_field(std::string_view text, std::string_view name) {
  for (const std::string& line : split_list(text, '\n')) {
    if (!line.starts_with(name)) continue;
    const std::size_t first = line.find_first_of("0123456789");
    const std::size_t last = line.find_last_of("0123456789");
    if (first == std::string::npos) continue;
    const auto value = parse_whole(line.substr(first, last - first + 1));
    if (value) return checked_mul(*value, kKiB);
  }
  return std::nullopt;
}

std::uint64_t process_peak_rss() {
  return kilobytes_field(text_of("/proc/self/status"), "VmHWM:").value_or(0);
}

std::optional<std::uint64_t> available_memory() {
  return kilobytes_field(text_of("/proc/meminfo"), "MemAvailable:");
}

Machine this_machine() {
  Machine machine;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  machine.cores = known ? static_cast<std::uint32_t>(CPU_COUNT(&allowed)) : 1;
  for (std::uint32_t node = 0; node < kMaxNumaNodes; ++node) {
    const std::string path = fmt::format("/sys/devices/system/node/node{}", node);
    if (::access(path.c_str(), F_OK) == 0) ++machine.numa_nodes;
  }
  if (machine.numa_nodes == 0) machine.numa_nodes = 1;  // a kernel without NUMA has one
  return machine;
}

}  // namespace corail::bench
