#include "engine/read/attribution.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
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

std::uint32_t owners_of(const ReadReport& report) noexcept {
  std::uint32_t owners = 1;
  for (const RailReport& rail : report.rails) owners = std::max(owners, rail.owner + 1);
  return owners;
}

/// " to owner 2", where there are several.
std::string to_owner(const ReadReport& report, std::uint32_t owner) {
  return owners_of(report) == 1 ? "" : fmt::format(" to owner {}", owner);
}

/// The rails to one owner together: each carries what it can, and none waits for another. Those to
/// other owners cannot help, so the owner whose rails were the fullest counts.
Suspect network(const ReadReport& report, const ReadSurroundings& with, double wait) {
  Suspect fullest{Bottleneck::kNetwork, 0, ""};
  const std::size_t known = std::min(report.rails.size(), with.rails.size());
  for (std::uint32_t owner = 0; owner < owners_of(report); ++owner) {
    double capacity = 0;
    double carried = 0;
    for (std::size_t i = 0; i < known; ++i) {
      const RailReport& rail = report.rails[i];
      // A rail that was down lends no capacity.
      if (rail.owner != owner || with.rails[i].network <= 0 || !rail.down.empty()) continue;
      capacity += with.rails[i].network;
      carried += static_cast<double>(rail.bytes);
    }
    const double share = capacity > 0 ? carried / capacity / wait : 0;
    if (share <= fullest.share) continue;
    fullest.share = share;
    fullest.evidence =
        fmt::format("the rails{} carried {:.0f} MB/s of the {:.0f} MB/s that they can",
                    to_owner(report, owner), megabytes(carried / wait), megabytes(capacity));
  }
  return fullest;
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

/// By what its devices were busy, where somebody knows that. Else by where the slices were: they
/// queue for what holds them back, so an owner whose slices were mostly not in its memory yet waits
/// for its devices; as long as its own part of the read took.
Suspect disk(const ReadReport& report, const ReadSurroundings& with, double wait) {
  Suspect slowest{
      Bottleneck::kDisk, seconds(with.disk) / wait,
      fmt::format("the busiest device of an owner worked {:.1f} ms of the {:.1f} ms that "
                  "the bytes took",
                  1e3 * seconds(with.disk), 1e3 * wait)};
  for (std::uint32_t owner = 0; owner < owners_of(report); ++owner) {
    RailTimes sum;
    for (const RailReport& rail : report.rails) {
      if (rail.owner != owner) continue;
      sum.disk += rail.times.disk;
      sum.slices += rail.times.slices;
      sum.wait = std::max(sum.wait, rail.times.wait);
    }
    if (sum.slices <= Duration(0)) continue;
    const double part = seconds(sum.disk) / seconds(sum.slices);
    const double share = std::min(part, 1.0) * std::min(seconds(sum.wait) / wait, 1.0);
    if (share <= slowest.share) continue;
    slowest.share = share;
    slowest.evidence = fmt::format(
        "the slices that were asked for{} spent {:.0f} % of their time at its devices",
        owners_of(report) == 1 ? " of the owner" : fmt::format(" of owner {}", owner), 100 * part);
  }
  return slowest;
}

/// What our own code did while nothing else could go on: before and after the wait, and the busiest
/// thread of the rails within it.
Suspect software(const ReadReport& report, double total) {
  const StageTimes& stages = report.stages;
  RailTimes busiest;
  for (const RailReport& rail : report.rails) {
    RailTimes thread;
    for (const RailReport& other : report.rails) {
      if (other.thread != rail.thread) continue;
      thread.post += other.times.post;
      thread.verify += other.times.verify;
    }
    if (thread.post + thread.verify > busiest.post + busiest.verify) busiest = thread;
  }
  struct Work {
    const char* name;
    double time;
  };
  std::array work{Work{"planning", seconds(stages.plan)},
                  Work{"joining and handing over", seconds(stages.verify + stages.seal)},
                  Work{"posting on the busiest thread", seconds(busiest.post)},
                  Work{"hashing on the busiest thread", seconds(busiest.verify)}};
  std::ranges::stable_sort(work, std::greater<>(), &Work::time);
  double all = 0;
  for (const Work& one : work) all += one.time;
  return {Bottleneck::kSoftware, all / total,
          fmt::format("{} took {:.1f} ms, {} {:.1f} ms, of {:.1f} ms", work[0].name,
                      1e3 * work[0].time, work[1].name, 1e3 * work[1].time, 1e3 * total)};
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
                      memory(report, with, total), disk(report, with, wait),
                      software(report, total)};
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
