// How the rate of one object's read grows with the number of rails: modelled rails of known
// capacity, in real time, so that what the engine loses is all that is missing.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/rail_sweep/sweep_rig.h"
#include "bench/rail_sweep/sweep_row.h"
#include "engine/base/units.h"
#include "engine/object/descriptor_check.h"
#include "engine/rail/mock/mock_link.h"

namespace corail::bench {
namespace {

// As p2p_bench exits.
constexpr int kExitFine = 0;
constexpr int kExitCheckFailed = 1;
constexpr int kExitUsage = 2;
constexpr int kExitReadFailed = 3;

struct Flags {
  std::uint64_t object_mib = 64;
  std::uint64_t stripe_mib = 4;
  std::vector<std::string> rails = {"125MB/s"};
  std::vector<std::uint32_t> counts = {1, 2, 3, 4, 8};
  std::uint32_t iterations = 5;
  std::uint64_t max_read_kib = 256;  // a granule: no rail waits long for another's last one
  std::uint64_t window_kib = 4096;
  std::string verify = "full";
  double min_efficiency = 0;
  std::string json;
  std::string plot;
};

/// The flags, checked and in the engine's words.
struct Sweep {
  std::uint64_t object_bytes = 0;
  std::uint64_t stripe_bytes = 0;
  std::vector<LinkModel> links;
  std::vector<std::uint64_t> rates;  // of the links, bytes a second
  SweepReads reads;
};

Error usage(const std::string& what) { return Error(Errc::kInvalidArgument, what); }

Result<Sweep> checked(const Flags& flags) {
  Sweep sweep;
  sweep.object_bytes = flags.object_mib * kMiB;
  sweep.stripe_bytes = flags.stripe_mib * kMiB;
  if (stripes_of(sweep.object_bytes, sweep.stripe_bytes) > kMaxObjectStripes) {
    return usage(fmt::format("an object has at most {} stripes; make --stripe-mib larger",
                             kMaxObjectStripes));
  }
  for (const std::string& rail : flags.rails) {
    auto link = parse_link_model(rail);
    if (!link) return usage("--rail: " + link.error().detail());
    sweep.links.push_back(*link);
    sweep.rates.push_back(link->bytes_per_second);
  }
  sweep.reads.max_read_bytes = flags.max_read_kib * kKiB;
  sweep.reads.window_bytes = flags.window_kib * kKiB;
  sweep.reads.verify = flags.verify == "full";
  if (flags.window_kib < flags.max_read_kib) {
    return usage("--window-kib is less than --max-read-kib; a window holds at least one read");
  }
  return sweep;
}

/// The row of the median read; one more comes first, to warm up.
Result<SweepRow> measure(SweepObject& object, const Sweep& sweep, const Flags& flags,
                         std::uint32_t count) {
  std::vector<LinkModel> links;
  for (std::size_t i = 0; i < count; ++i) links.push_back(sweep.links[i % sweep.links.size()]);
  SweepRig rig(object, links, sweep.reads);
  if (auto opened = rig.open(); !opened) return std::move(opened).error();
  std::vector<SweepRead> reads;
  for (std::uint32_t i = 0; i <= flags.iterations; ++i) {
    auto read = rig.read();
    if (!read) return std::move(read).error();
    if (i > 0) reads.push_back(std::move(*read));
  }
  std::ranges::sort(reads, {}, &SweepRead::seconds);
  const SweepRead& median = reads[reads.size() / 2];
  const std::vector<std::uint64_t> rates = cycled(sweep.rates, count);
  SweepRow row = row_of(sweep.object_bytes, sweep.stripe_bytes, rates, median.seconds);
  std::vector<RailCapacity> capacities;
  for (const std::uint64_t rate : rates) capacities.push_back({static_cast<double>(rate), 0});
  ReadSurroundings with;
  with.rails = capacities;
  row.attribution = attribute(median.report, with);
  return row;
}

void print(std::FILE* to, const Flags& flags, const Sweep& sweep, std::span<const SweepRow> rows) {
  std::string rails;
  for (const LinkModel& link : sweep.links) {
    rails += (rails.empty() ? "" : ", ") + format_link_model(link);
  }
  fmt::print(
      to,
      "one object of {} MiB in stripes of {} MiB, read over modelled rails of {}, verify {}\n"
      "{} iterations measured, the median is shown; MB/s are 10^6 bytes a second\n\n",
      flags.object_mib, flags.stripe_mib, rails, flags.verify, flags.iterations);
  print_rows(to, rows);
  fmt::print(to, "\nbal_MB/s: what whole stripes would give; theo_MB/s: the rails' capacities\n");
  for (const SweepRow& row : rows) {
    fmt::print(to, "{} rail{}: {}\n", row.rails, row.rails == 1 ? "" : "s",
               row.attribution.evidence);
  }
}

nlohmann::ordered_json report(const Flags& flags, const Sweep& sweep,
                              std::span<const SweepRow> rows) {
  return {{"schema", "corail.rail_sweep.v1"},
          {"config",
           {{"object_bytes", sweep.object_bytes},
            {"stripe_bytes", sweep.stripe_bytes},
            {"rail_bytes_per_s", sweep.rates},
            {"max_read_bytes", sweep.reads.max_read_bytes},
            {"window_bytes", sweep.reads.window_bytes},
            {"iterations", flags.iterations},
            {"verify", flags.verify}}},
          {"rows", rows_json(rows)}};
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file.fail()) return true;
  std::fprintf(stderr, "rail_sweep: %s cannot be written; check the path and the disk\n",
               path.c_str());
  return false;
}

int run(const Flags& flags) {
  const auto sweep = checked(flags);
  if (!sweep) {
    std::fprintf(stderr, "rail_sweep: %s\n", sweep.error().detail().c_str());
    return kExitUsage;
  }
  SweepObject object(sweep->object_bytes, sweep->stripe_bytes);
  std::vector<SweepRow> rows;
  for (const std::uint32_t count : flags.counts) {
    auto row = measure(object, *sweep, flags, count);
    if (!row) {
      std::fprintf(stderr, "rail_sweep: %s\n", row.error().to_string().c_str());
      const bool wrong = row.error().error_class() == ErrorClass::kIntegrity;
      return wrong ? kExitCheckFailed : kExitReadFailed;
    }
    rows.push_back(std::move(*row));
  }
  print(flags.json == "-" ? stderr : stdout, flags, *sweep, rows);
  const std::string text = report(flags, *sweep, rows).dump(2) + "\n";
  if (flags.json == "-") {
    std::fputs(text.c_str(), stdout);
  } else if (!flags.json.empty() && !write_file(flags.json, text)) {
    return kExitUsage;
  }
  if (!flags.plot.empty() && !write_file(flags.plot, rows_svg(rows))) return kExitUsage;
  bool reached = true;
  for (const SweepRow& row : rows) {
    if (row.efficiency >= flags.min_efficiency) continue;
    std::fprintf(stderr, "rail_sweep: %u rail%s: the efficiency is %.3f, meant is %.3f or more\n",
                 row.rails, row.rails == 1 ? "" : "s", row.efficiency, flags.min_efficiency);
    reached = false;
  }
  return reached ? kExitFine : kExitCheckFailed;
}

}  // namespace
}  // namespace corail::bench

int main(int argc, char** argv) {
  corail::bench::Flags flags;
  CLI::App app(
      "How the rate of one object's read grows with the number of rails. The rails are modelled\n"
      "links of this process, in real time. Exits 0; 1 where bytes were wrong or --min-efficiency\n"
      "was missed; 2 for a wrong call; 3 where a read failed.",
      "rail_sweep");
  app.add_option("--object-mib", flags.object_mib, "Size of the object [MiB]")
      ->capture_default_str()
      ->check(CLI::Range(1U, 16'384U));
  app.add_option("--stripe-mib", flags.stripe_mib, "Size of its stripes [MiB]")
      ->capture_default_str()
      ->check(CLI::Range(1U, 1024U));
  app.add_option(
         "--rail", flags.rails,
         "What rails are like, as RATE[+LATENCY[~JITTER]], e.g. 125MB/s+50us; a list makes\n"
         "them unequal: n rails are its first n, from the beginning again where it is shorter")
      ->capture_default_str()
      ->delimiter(',');
  app.add_option("--counts", flags.counts, "Numbers of rails, a row each")
      ->capture_default_str()
      ->delimiter(',')
      ->check(CLI::Range(1U, 64U));
  app.add_option("-n,--iterations", flags.iterations, "Reads measured for each row, after one more")
      ->capture_default_str()
      ->check(CLI::Range(1U, 10'000U));
  app.add_option("--max-read-kib", flags.max_read_kib, "Longest single read [KiB]")
      ->capture_default_str()
      ->check(CLI::Range(256U, 32'768U));
  app.add_option("--window-kib", flags.window_kib, "Most bytes in flight on a rail [KiB]")
      ->capture_default_str()
      ->check(CLI::Range(256U, 1'048'576U));
  app.add_option("--verify", flags.verify,
                 "full: checksums while bytes land, and every byte compared afterwards; none")
      ->capture_default_str()
      ->check(CLI::IsMember({"full", "none"}));
  app.add_option("--min-efficiency", flags.min_efficiency, "Exit 1 where a row is below")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--json", flags.json, "Write a report as JSON, to stdout for -");
  app.add_option("--plot", flags.plot, "Draw the rates over the number of rails, as SVG");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? corail::bench::kExitFine : corail::bench::kExitUsage;
  }
  return corail::bench::run(flags);
}
