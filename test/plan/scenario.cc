#include "test/plan/scenario.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace corail::testing {
namespace {

/// A region while it is being filled: offsets first, the base comes when all sizes are known.
struct Filling {
  std::uint64_t used = 0;
  std::int32_t numa_node = 0;
};

struct Spot {
  std::uint32_t region = 0;
  std::uint64_t offset = 0;
};

std::vector<std::uint32_t> shuffled(std::uint32_t n, Random& random) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

class ScenarioMaker {
 public:
  explicit ScenarioMaker(std::uint64_t seed) : random_(seed) {}

  Scenario make() {
    make_layout();
    scenario_.blocks = static_cast<std::uint32_t>(1 + random_.below(24));
    for (std::uint64_t i = 0, n = 1 + random_.below(4); i < n; ++i) {
      regions_.push_back({gap(), static_cast<std::int32_t>(random_.below(2))});
    }
    spots_.assign(scenario_.layout->lanes(), std::vector<Spot>(scenario_.blocks));
    const std::vector<std::vector<std::uint32_t>> parts = make_parts();
    for (std::uint32_t first = 0; first < scenario_.blocks;) {
      const auto count = static_cast<std::uint32_t>(1 + random_.below(scenario_.blocks - first));
      for (const auto& lanes : parts) save(first, count, lanes);
      first += count;
    }
    place_regions();
    scenario_.runs = encode(scenario_.addresses, &scenario_.regions);
    split_runs();
    return std::move(scenario_);
  }

 private:
  std::uint64_t gap() { return random_.below(3) == 0 ? random_.below(100) : 0; }

  std::uint32_t size() {
    if (random_.below(12) == 0) return static_cast<std::uint32_t>(100 + random_.below(200));
    return static_cast<std::uint32_t>(1 + random_.below(random_.below(2) == 0 ? 4 : 40));
  }

  void make_layout() {
    std::vector<Slot> slots;
    const bool uniform = random_.below(2) == 0;
    const std::uint32_t k = size();
    const std::uint32_t v = random_.below(4) == 0 ? 0 : (random_.below(2) == 0 ? k : size());
    for (std::uint64_t i = 0, n = 1 + random_.below(12); i < n; ++i) {
      if (uniform) {
        slots.push_back({k, v, 0});
      } else {
        slots.push_back({size(), random_.below(3) == 0 ? 0 : size(), 0});
      }
    }
    auto layout = Layout::make(std::move(slots));
    scenario_.layout = std::make_shared<const Layout>(std::move(layout).value());
  }

  std::vector<std::vector<std::uint32_t>> make_parts() {
    std::vector<std::vector<std::uint32_t>> parts(1 + random_.below(3));
    const bool striped = random_.below(2) == 0;
    for (std::uint32_t lane = 0; lane < scenario_.layout->lanes(); ++lane) {
      parts[striped ? lane % parts.size() : random_.below(parts.size())].push_back(lane);
    }
    if (random_.below(4) == 0) {
      for (auto& lanes : parts) {
        for (std::size_t i = lanes.size(); i > 1; --i) {
          std::swap(lanes[i - 1], lanes[random_.below(i)]);
        }
      }
    }
    return parts;
  }

  void put(std::uint32_t region, std::uint32_t lane, std::uint32_t block) {
    spots_[lane][block] = {region, regions_[region].used};
    regions_[region].used += scenario_.layout->lane_bytes()[lane];
  }

  /// One part of one save, in one of the orders that a holder may have.
  void save(std::uint32_t first, std::uint32_t count, const std::vector<std::uint32_t>& lanes) {
    auto region = static_cast<std::uint32_t>(random_.below(regions_.size()));
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    const std::uint64_t kind = random_.below(6);
    if (kind == 1) std::reverse(order.begin(), order.end());
    if (kind == 2) order = shuffled(count, random_);
    if (kind == 3) {  // lane-major
      const bool descending = random_.below(2) == 0;
      if (descending) std::reverse(order.begin(), order.end());
      for (const std::uint32_t lane : lanes) {
        for (const std::uint32_t block : order) put(region, lane, first + block);
        if (random_.below(4) == 0) regions_[region].used += gap();
      }
    } else if (kind == 4) {  // scattered
      for (const std::uint32_t block : order) {
        for (const std::uint32_t lane : lanes) {
          region = static_cast<std::uint32_t>(random_.below(regions_.size()));
          put(region, lane, first + block);
          regions_[region].used += gap();
        }
      }
    } else {  // block-major, perhaps with a gap of fixed size after each block
      const std::uint64_t padding = kind == 5 ? 1 + random_.below(50) : 0;
      for (const std::uint32_t block : order) {
        for (const std::uint32_t lane : lanes) put(region, lane, first + block);
        regions_[region].used += padding;
      }
    }
    regions_[region].used += gap();
  }

  void place_regions() {
    std::vector<Region> placed;
    std::vector<std::uint64_t> bases;
    std::uint64_t total = 0;
    for (const Filling& region : regions_) total += region.used + 200;
    // Now and then the regions end where addresses do.
    std::uint64_t next = random_.below(8) == 0 ? ~std::uint64_t{0} - total : random_.below(1 << 20);
    for (std::uint32_t i = 0; i < regions_.size(); ++i) {
      const std::uint64_t length = std::max<std::uint64_t>(regions_[i].used, 1) + gap();
      bases.push_back(next);
      Region region;
      region.id = RegionId(100 + i);
      region.base = next;
      region.length = length;
      region.numa_node = regions_[i].numa_node;
      placed.push_back(std::move(region));
      next += length + gap();
    }
    scenario_.regions = RegionTable::make(TableGeneration(1), std::move(placed)).value();
    scenario_.addresses.assign(spots_.size(), {});
    for (std::size_t lane = 0; lane < spots_.size(); ++lane) {
      for (const Spot& spot : spots_[lane]) {
        scenario_.addresses[lane].push_back(bases[spot.region] + spot.offset);
      }
    }
  }

  /// Any splitting of runs is as valid as the greedy one, and the stride of a single address is
  /// meaningless.
  void split_runs() {
    const RunTable greedy = std::exchange(scenario_.runs, RunTable{});
    RunTable& runs = scenario_.runs;
    const std::uint64_t one_in = random_.below(2) == 0 ? 1'000'000 : 1 + random_.below(5);
    std::size_t run = 0;
    for (const std::uint32_t in_lane : greedy.runs_per_lane) {
      std::uint32_t made = 0;
      for (const std::size_t end = run + in_lane; run < end; ++run) {
        std::uint64_t base = greedy.base[run];
        for (std::uint32_t left = greedy.count[run]; left > 0; ++made) {
          const bool split = random_.below(one_in) == 0;
          const auto count = split ? static_cast<std::uint32_t>(1 + random_.below(left)) : left;
          runs.base.push_back(base);
          runs.count.push_back(count);
          const bool any = count == 1 && random_.below(4) == 0;
          runs.stride.push_back(any ? static_cast<std::int64_t>(random_.next())
                                    : greedy.stride[run]);
          base += count * static_cast<std::uint64_t>(greedy.stride[run]);
          left -= count;
        }
      }
      runs.runs_per_lane.push_back(made);
    }
  }

  SeededRandom random_;
  Scenario scenario_;
  std::vector<Filling> regions_;
  std::vector<std::vector<Spot>> spots_;
};

}  // namespace

Scenario random_scenario(std::uint64_t seed) { return ScenarioMaker(seed).make(); }

RunTable encode(const std::vector<std::vector<std::uint64_t>>& addresses,
                const RegionTable* regions) {
  RunTableBuilder builder(regions);
  for (const auto& lane : addresses) {
    for (const std::uint64_t address : lane) builder.add(address);
    builder.end_lane();
  }
  return builder.take();
}

std::shared_ptr<const Layout> uniform_layout(std::uint32_t slots, std::uint32_t k_bytes,
                                             std::uint32_t v_bytes) {
  auto layout = Layout::make(std::vector<Slot>(slots, Slot{k_bytes, v_bytes, 0}));
  return std::make_shared<const Layout>(std::move(layout).value());
}

RegionTable one_region(std::uint64_t base, std::uint64_t length) {
  Region region;
  region.id = RegionId(1);
  region.base = base;
  region.length = length;
  return RegionTable::make(TableGeneration(1), {region}).value();
}

}  // namespace corail::testing
