#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "apps/p2p_bench/run_result.h"

namespace corail::bench {

/// User and system time that this process has used so far, in seconds.
double process_cpu_seconds() noexcept;

/// The most memory that this process ever had resident, in bytes (VmHWM); 0 when unknown.
std::uint64_t process_peak_rss();

/// Memory that could be had without swapping, in bytes; nothing when unknown.
std::optional<std::uint64_t> available_memory();

Machine this_machine();

/// The value of a line like "VmHWM:   1234 kB", in bytes.
std::optional<std::uint64_t> kilobytes_field(std::string_view text, std::string_view name);

}  // namespace corail::bench
