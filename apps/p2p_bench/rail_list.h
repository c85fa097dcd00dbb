#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/report_file.h"
#include "engine/rail/machine_rails.h"

namespace corail::bench {

inline constexpr const char* kRailListSchema = "corail.rails.v1";

/// What --list-rails prints: each port and address as --rails takes it, what limits it, and what is
/// wrong. Units are in the headings.
std::string rail_table(const MachineRails& rails);

/// The same for machines. Units are in the names; what is not known is null.
nlohmann::ordered_json rail_json(const MachineRails& rails);

/// Runs --list-rails on this machine. Returns the exit code: problems are part of the answer.
int list_rails(const BenchOptions& options, ReportFile& file);

}  // namespace corail::bench
