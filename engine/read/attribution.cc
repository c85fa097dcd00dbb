#include "engine/read/attribution.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <string>

namespace corail {
namespace {

double seconds(Duration time) noexcept { return std::chrono::duration<double>(time).count(); }

/// Someone who may have held the read back.
struct Suspect {
  Bottleneck what;
  double share;  // of the read's time
  std::string evidence;
};

double megabytes(double bytes) noexcept { return bytes / 1e6; }

/// The rails together: each carries what it can, and none waits for another.
Suspect network(const ReadReport& report, const ReadSurroundings& with, double wait) {
  double capacity = 0;
  double carried = 0;
  const std::size_t known = std::min(report.rails.size(), with.rails.size());
  for (std::size_t i = 0; i < known; ++i) {
    // A rail that was down lends no capacity.
    if (with.rails[i].network <= 0 || !report.rails[i].down.empty()) continue;
    capacity += with.rails[i].network;
    carried += static_cast<double>(report.rails[i].bytes);
  }
  const double share = capacity > 0 ? carried / capacity / wait : 0;
  return {Bottleneck::kNetwork, share,
          fmt::format("the rails carried {:.0f} MB/s of the {:.0f} MB/s that they can",
                      megabytes(carried / wait), megabytes(capacity))};
}

/// One NIC's link to the host: the fullest of them.
Suspect pcie(const ReadReport& report, const ReadSurroundings& with, double wait) {
  Suspect fullest{Bottleneck::kPcie, 0, ""};
  const std::size_t known = std::min(report.rails.size(), with.rails.size());
  for (std::size_t i = 0; i < known; ++i) {
    const double capacity = with.rails[i].pcie;
    if (capacity <= 0) continue;
    const double rate = static_cast<double>(report.rails[i].bytes) / wait;
    if (rate / capacity <= fullest.share) continue;
    fullest.share = rate / capacity;
    fullest.evidence = fmt::format("rail {} brought {:.0f} MB/s over a PCIe link of {:.0f} MB/s",
                                   report.rails[i].name, megabytes(rate), megabytes(capacity));
  }
  return fullest;
}

Suspect memory(const ReadReport& report, const ReadSurroundings& with, double total) {
  const double landing = with.memory > 0 ? static_cast<double>(report.read_bytes) / with.memory : 0;
  const double copying = seconds(report.stages.copy);
  return {Bottleneck::kMemory, (landing + copying) / total,
          fmt::format("{:.1f} ms of {:.1f} ms are what memory needs to take the bytes, {:.1f} ms "
                      "of them for the copy",
                      1e3 * (landing + copying), 1e3 * total, 1e3 * copying)};
}

Suspect disk(const ReadSurroundings& with, double wait) {
  return {Bottleneck::kDisk, seconds(with.disk) / wait,
          fmt::format("the busiest device of an owner worked {:.1f} ms of the {:.1f} ms that the "
                      "bytes took",
                      1e3 * seconds(with.disk), 1e3 * wait)};
}

/// What our own code did while nothing else could go on: before and after the wait, and the busiest
/// rail's thread within it. Posting and hashing go by bytes, so that rail had its part of them.
Suspect software(const ReadReport& report, double total) {
  const StageTimes& stages = report.stages;
  std::uint64_t most = 0;
  std::uint64_t all = 0;
  for (const RailReport& rail : report.rails) {
    most = std::max(most, rail.bytes);
    all += rail.bytes;
  }
  const double part = all > 0 ? static_cast<double>(most) / static_cast<double>(all) : 0;
  const double busiest = part * seconds(stages.submit + report.verify_cpu);
  const double outside = seconds(stages.plan + stages.verify + stages.seal);
  return {Bottleneck::kSoftware, (outside + busiest) / total,
          fmt::format("planning and joining took {:.1f} ms, posting and hashing on the busiest "
                      "rail {:.1f} ms, of {:.1f} ms",
                      1e3 * outside, 1e3 * busiest, 1e3 * total)};
}

}  // namespace

std::string_view to_string(Bottleneck bottleneck) noexcept {
  switch (bottleneck) {
    case Bottleneck::kNetwork:
      return "network";
    case Bottleneck::kMemory:
      return "memory";
    case Bottleneck::kDisk:
      return "disk";
    case Bottleneck::kSoftware:
      return "software";
    case Bottleneck::kPcie:
      return "pcie";
    case Bottleneck::kUnknown:
      break;
  }
  return "unknown";
}

Attribution attribute(const ReadReport& report, const ReadSurroundings& with) {
  const double wait = seconds(report.stages.wait);
  const double total = seconds(report.stages.total());
  if (wait <= 0 || total <= 0) return {Bottleneck::kUnknown, "the read took no time"};
  std::array suspects{network(report, with, wait), pcie(report, with, wait),
                      memory(report, with, total), disk(with, wait), software(report, total)};
  std::ranges::stable_sort(suspects, std::greater<>(), &Suspect::share);
  const Suspect& first = suspects[0];
  const Suspect& second = suspects[1];
  if (first.share >= kStandsOutFrom && first.share - second.share >= kStandsOutBy) {
    return {first.what, first.evidence};
  }
  return {Bottleneck::kUnknown,
          fmt::format("nothing stands out: {} accounts for {:.0f} % of the time, {} for {:.0f} %",
                      to_string(first.what), 100 * first.share, to_string(second.what),
                      100 * second.share)};
}

}  // namespace corail
