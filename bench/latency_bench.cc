// What a small read costs beyond its bytes: one block over rails beside one exchange over plain
// sockets, the same beside a big read, and a connected pair that does nothing.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/p2p_bench/node_setup.h"
#include "apps/p2p_bench/option_values.h"
#include "apps/p2p_bench/process_usage.h"
#include "apps/p2p_bench/statistics.h"
#include "bench/latency_measure.h"

namespace corail::bench {
namespace {

struct Flags {
  std::uint32_t samples = 1000;
  std::string big = "2GiB";
  std::string rails = "tcp:127.0.0.1,tcp:127.0.0.2,tcp:127.0.0.3,tcp:127.0.0.4";
  std::string max_read = "32MiB";
  std::string window = "128MiB";
  double idle_s = 5;
  bool no_integrity = false;
  bool check = false;
  std::string json;
};

/// One figure with its target.
struct Figure {
  const char* name;
  double value;
  double most;

  bool reached() const { return value <= most; }
};

struct Figures {
  Statistics read_ms;
  Statistics exchange_ms;
  Statistics alone_ms;
  Statistics beside_ms;
  Statistics exchange_beside_ms;
  std::uint64_t big_reads = 0;
  double idle_share = 0;

  std::vector<Figure> targets() const {
    const double ratio = alone_ms.p99 > 0 ? beside_ms.p99 / alone_ms.p99 : 0;
    return {{"read over exchange, p50 [ms]", read_ms.p50 - exchange_ms.p50, 0.3},
            {"p99 beside a big read / alone", ratio, 5},
            {"CPU of an idle pair [% of a core]", 100 * idle_share, 1}};
  }
};

Result<Figures> measure(const BenchOptions& options, const Flags& flags, std::uint32_t big_blocks) {
  SteadyClock clock;
  auto pair = LatencyPair::open(options, big_blocks, clock);
  if (!pair.ok()) return std::move(pair).error();
  Figures figures;
  auto alternating = measure_alternating(**pair, flags.samples);
  if (!alternating.ok()) return std::move(alternating).error();
  figures.read_ms = statistics_of(std::move(alternating->read_ms));
  figures.exchange_ms = statistics_of(std::move(alternating->exchange_ms));
  auto beside = measure_beside_big(**pair, flags.samples);
  if (!beside.ok()) return std::move(beside).error();
  figures.alone_ms = statistics_of(std::move(beside->alone_ms));
  figures.beside_ms = statistics_of(std::move(beside->beside_ms));
  figures.exchange_beside_ms = statistics_of(std::move(beside->exchange_beside_ms));
  figures.big_reads = beside->big_reads;
  const auto idle = idle_cpu_share(
      clock, std::chrono::duration_cast<Duration>(std::chrono::duration<double>(flags.idle_s)));
  if (!idle) return Error(Errc::kInvalidArgument, "/proc/self/stat cannot be read");
  figures.idle_share = *idle;
  return figures;
}

void print(std::FILE* to, const BenchOptions& options, const Flags& flags, std::uint64_t big_bytes,
           const Figures& figures) {
  fmt::print(to,
             "one block of {}, {} rails x {} channels, integrity {}, {} samples, two nodes of "
             "one process, {} cores\n",
             format_bytes(options.shape.payload_bytes()), options.rails.size(),
             options.channels_per_rail, to_string(options.integrity), flags.samples,
             this_machine().cores);
  fmt::print(to, "\n{:<42}{:>10}{:>10}{:>10}\n", "[ms]", "p50", "p99", "max");
  const auto row = [to](const std::string& name, const Statistics& of) {
    fmt::print(to, "{:<42}{:>10.3f}{:>10.3f}{:>10.3f}\n", name, of.p50, of.p99, of.max);
  };
  row("read, in turns with", figures.read_ms);
  row("exchange over plain sockets", figures.exchange_ms);
  row("read, alone", figures.alone_ms);
  row(fmt::format("read, beside {} big reads of {}", figures.big_reads, format_bytes(big_bytes)),
      figures.beside_ms);
  row("exchange over plain sockets, beside them", figures.exchange_beside_ms);
  fmt::print(to, "\n{:<42}{:>10}{:>10}\n", "", "figure", "target");
  for (const Figure& figure : figures.targets()) {
    fmt::print(to, "{:<42}{:>10.3f}{:>10}  {}\n", figure.name, figure.value,
               fmt::format("<= {}", figure.most), figure.reached() ? "reached" : "MISSED");
  }
  fmt::print(to, "idle: both nodes together, over {} s\n", flags.idle_s);
}

nlohmann::ordered_json report(const BenchOptions& options, const Flags& flags,
                              std::uint64_t big_bytes, const Figures& figures) {
  const auto times = [](const Statistics& of) {
    return nlohmann::ordered_json{{"p50", of.p50}, {"p99", of.p99}, {"max", of.max}};
  };
  const std::vector<Figure> targets = figures.targets();
  return {{"schema", "corail.bench_latency.v1"},
          {"config",
           {{"block_bytes", options.shape.payload_bytes()},
            {"big_bytes", big_bytes},
            {"rails", options.rails},
            {"channels_per_rail", options.channels_per_rail},
            {"max_read_bytes", options.max_read_bytes},
            {"window_bytes", options.window_bytes},
            {"integrity", to_string(options.integrity)},
            {"samples", flags.samples},
            {"idle_s", flags.idle_s}}},
          {"read_ms", times(figures.read_ms)},
          {"exchange_ms", times(figures.exchange_ms)},
          {"alone_ms", times(figures.alone_ms)},
          {"beside_ms", times(figures.beside_ms)},
          {"exchange_beside_ms", times(figures.exchange_beside_ms)},
          {"big_reads", figures.big_reads},
          {"over_exchange_p50_ms", targets[0].value},
          {"beside_over_alone_p99", targets[1].value},
          {"idle_cpu_share", figures.idle_share}};
}

int run(const Flags& flags) {
  BenchOptions options;
  options.shape.blocks = 1;
  options.rails = split_list(flags.rails, ',');
  options.max_read_bytes = parse_bytes(flags.max_read).value_or(0);
  options.window_bytes = parse_bytes(flags.window).value_or(0);
  options.send_buffer_bytes = NodeOptions().send_buffer_bytes;
  options.concurrency = 2;
  if (flags.no_integrity) options.integrity = Integrity::kNone;
  const auto asked = parse_bytes(flags.big);
  const std::uint64_t block = options.shape.block_bytes();
  if (!asked || *asked < block || *asked / block > 65'536) {
    std::fprintf(stderr, "bench_latency: '%s' is no size of a big read\n", flags.big.c_str());
    return kExitUsage;
  }
  const auto checked = check_options(options);
  if (!checked.ok()) {
    std::fprintf(stderr, "bench_latency: %s\n", checked.error().detail().c_str());
    return kExitUsage;
  }
  const auto big_blocks = static_cast<std::uint32_t>(*asked / block);
  const auto figures = measure(options, flags, big_blocks);
  if (!figures.ok()) {
    std::fprintf(stderr, "bench_latency: %s\n", figures.error().to_string().c_str());
    return kExitPeer;
  }
  print(flags.json == "-" ? stderr : stdout, options, flags, big_blocks * block, *figures);
  const std::string text = report(options, flags, big_blocks * block, *figures).dump(2) + "\n";
  if (flags.json == "-") {
    std::fputs(text.c_str(), stdout);
  } else if (!flags.json.empty() && !(std::ofstream(flags.json) << text)) {
    std::fprintf(stderr, "bench_latency: %s cannot be written\n", flags.json.c_str());
    return kExitUsage;
  }
  const std::vector<Figure> targets = figures->targets();
  const bool reached = std::ranges::all_of(targets, &Figure::reached);
  return flags.check && !reached ? kExitCheckFailed : kExitFine;
}

}  // namespace
}  // namespace corail::bench

int main(int argc, char** argv) {
  corail::bench::Flags flags;
  CLI::App app("What a small read costs beyond its bytes, and an idle pair.", "bench_latency");
  app.add_option("--samples", flags.samples, "Times taken of each kind")
      ->capture_default_str()
      ->check(CLI::Range(1U, 1'000'000U));
  app.add_option("--big-bytes", flags.big, "Size of the big read; both sides hold as much")
      ->capture_default_str();
  app.add_option("--rails", flags.rails, "Local addresses, one rail each")->capture_default_str();
  app.add_option("--max-read-bytes", flags.max_read, "Longest single read")->capture_default_str();
  app.add_option("--window-bytes", flags.window, "Most bytes in flight on a rail")
      ->capture_default_str();
  app.add_option("--idle", flags.idle_s, "Seconds that the pair is left idle")
      ->capture_default_str()
      ->check(CLI::Range(0.1, 3600.0));
  app.add_flag("--no-integrity", flags.no_integrity, "Reads without the engine's checksums");
  app.add_flag("--check", flags.check, "Exit 1 where a target is missed");
  app.add_option("--json", flags.json, "Write a report as JSON, to stdout for -");
  CLI11_PARSE(app, argc, argv);
  return corail::bench::run(flags);
}
