// The simulation's program; test/sim/run builds and starts it.
#include <fmt/core.h>
#include <sys/personality.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "engine/base/log.h"
#include "test/sim/objects/seed.h"
#include "test/sim/seed.h"
#include "test/sim/seed_process.h"

namespace corail::sim {
namespace {

/// A plant that is not found by then is not found.
constexpr std::uint64_t kSeedsPerPlant = 500;

struct Options {
  std::uint64_t seeds = 100;
  std::uint64_t from = 1;
  bool trace = false;
  std::string plant;
  bool digests = false;
  bool all_plants = false;
  bool objects = false;

  MakeSeed make() const { return objects ? make_object_seed : make_block_seed; }
};

std::string replay_command(std::uint64_t seed, const Options& options) {
  return fmt::format("test/sim/run{} --seeds 1 --from {} --trace{}",
                     options.objects ? " --objects" : "", seed,
                     options.plant.empty() ? "" : " --plant " + options.plant);
}

void print_violation(std::uint64_t seed, const SeedResult& result, const Options& options) {
  const Violation& violation = *result.violation;
  fmt::print("seed {} broke I{} after {} ns of virtual time: {}\n  replay: {}\n", seed,
             violation.invariant, violation.when.time_since_epoch().count(), violation.what,
             replay_command(seed, options));
}

void print_counts(const SeedCounts& total, bool objects) {
  if (objects) {
    fmt::print("{} links, {} restarts, {} committed puts, {} reads, {} pushed slices", total.links,
               total.restarts, total.saves, total.fetches, total.pushes);
  } else {
    fmt::print("{} links, {} of them over the other's connection, {} saves, {} fetches",
               total.links, total.shared, total.saves, total.fetches);
  }
  fmt::print(", {} of them successes with {} bytes\n", total.successes, total.bytes);
}

/// Runs the seeds; false if one was broken.
bool run_seeds(const Options& options, Plant plant) {
  SeedCounts total;
  std::uint64_t broken = 0;
  std::uint64_t steps = 0;
  std::uint64_t digest = 0;
  const TimePoint begin = machine_now();
  for (std::uint64_t seed = options.from; seed < options.from + options.seeds; ++seed) {
    const SeedResult result = run_in_child(options.make(), seed, plant, options.trace);
    if (options.digests) fmt::print("seed {} digest {:016x}\n", seed, result.digest);
    digest = mix64(digest ^ result.digest);
    steps += result.steps;
    total.add(result.counts);
    if (!result.violation) continue;
    ++broken;
    print_violation(seed, result, options);
  }
  const std::chrono::duration<double, std::milli> took = machine_now() - begin;
  fmt::print("{} seeds, {} broken; {:.2f} ms and {} steps a seed, digest {:016x}\n", options.seeds,
             broken, took.count() / static_cast<double>(options.seeds), steps / options.seeds,
             digest);
  print_counts(total, options.objects);
  for (const auto& [code, count] : total.failures) fmt::print("  {:>6} x {}\n", count, code);
  return broken == 0;
}

/// Runs each planted bug until the check that it is for has found it; false if one was missed.
bool find_all_plants(const Options& options) {
  bool all = true;
  for (const PlantInfo& info : all_plants()) {
    if (info.of_objects != options.objects) continue;
    bool found = false;
    for (std::uint64_t seed = 1; seed <= kSeedsPerPlant && !found; ++seed) {
      const SeedResult result = run_in_child(options.make(), seed, info.plant, false);
      found = result.violation && result.violation->invariant == info.invariant &&
              result.violation->what.find(info.says) != std::string::npos;
      if (found) {
        fmt::print("{}: I{} broken in seed {}: {}\n", info.name, info.invariant, seed,
                   result.violation->what);
      }
    }
    if (!found) {
      fmt::print("{}: {} seeds did not break I{}\n", info.name, kSeedsPerPlant, info.invariant);
    }
    std::fflush(stdout);
    all = all && found;
  }
  return all;
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Runs two nodes in virtual time and checks I1 to I10");
  app.add_option("--seeds", options.seeds, "how many")->check(CLI::PositiveNumber);
  app.add_option("--from", options.from, "the first one");
  app.add_flag("--objects", options.objects, "objects, puts and pushes instead of blocks");
  app.add_flag("--trace", options.trace, "print one line an event");
  app.add_option("--plant", options.plant, "plant this bug; 'list' names them all");
  app.add_flag("--digests", options.digests, "print a digest of each seed's events");
  app.add_flag("--find-plants", options.all_plants, "run every planted bug until it is found");
  CLI11_PARSE(app, argc, argv);
  set_log_level(LogLevel::kOff);
  if (options.all_plants) return find_all_plants(options) ? EXIT_SUCCESS : EXIT_FAILURE;
  Plant plant = Plant::kNone;
  if (!options.plant.empty()) {
    const PlantInfo* info = find_plant(options.plant, options.objects);
    if (info == nullptr) {
      fmt::print("The planted bugs, and what they break:\n");
      for (const PlantInfo& each : all_plants()) {
        if (each.of_objects != options.objects) continue;
        fmt::print("  {} (I{})\n", each.name, each.invariant);
      }
      return options.plant == "list" ? EXIT_SUCCESS : 2;
    }
    plant = info->plant;
  }
  return run_seeds(options, plant) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace corail::sim

int main(int argc, char** argv) {
  // Where memory lies decides about order here and there, so the same seed wants the same
  // addresses. Where the system forbids that, seeds are a little less repeatable.
  constexpr unsigned long kAsk = 0xFFFFFFFF;
  const int current = ::personality(kAsk);
  if (current != -1 && (current & ADDR_NO_RANDOMIZE) == 0 &&
      ::personality(static_cast<unsigned long>(current) | ADDR_NO_RANDOMIZE) != -1) {
    ::execv("/proc/self/exe", argv);
  }
  return corail::sim::run(argc, argv);
}
