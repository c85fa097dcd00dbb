#pragma once

#include <string>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/option_builder.h"

namespace corail::bench {

enum class Preset { kNone, kSeed4k, kSeed64k };

/// What flags and variables are read into, before it is put together.
struct Draft {
  BenchOptions options;
  Preset preset = Preset::kNone;
  bool no_limit = false;
  std::string rails = "tcp:127.0.0.1,tcp:127.0.0.2,tcp:127.0.0.3,tcp:127.0.0.4";
};

/// Declares every option; `draft` outlives the parse.
void declare_options(OptionBuilder& build, Draft& draft);

/// Puts the draft together once every flag and variable was read.
BenchOptions complete_options(const OptionBuilder& build, Draft draft);

}  // namespace corail::bench
