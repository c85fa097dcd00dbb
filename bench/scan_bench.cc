// The holder's answer to a query: scan of the prefix and encoding of the run table, without RPC.
// Cold means that index, blocks, keys and extents are not in any cache: between two queries a
// buffer larger than the last-level cache is walked through.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/base/units.h"
#include "engine/memory/region_registry.h"
#include "engine/store/block_store.h"

namespace corail {
namespace {

constexpr std::uint32_t kBlocks = 1000;
constexpr std::uint32_t kBlockBytes = 576 * 64;  // equal for every number of lanes; small, as the
                                                 // bytes are never looked at
constexpr std::size_t kCacheBytes = 256 * kMiB;

/// A store that holds sets of blocks in two parts on two nodes, each lane in the part of its half.
class Holder {
 public:
  Holder(std::uint32_t lanes, std::uint32_t sets, bool permuted) : permuted_(permuted) {
    StoreOptions options;
    const std::uint64_t half = std::uint64_t{sets} * kBlocks * kBlockBytes / 2 + kMiB;
    options.nodes = {{0, half}, {1, half}};
    options.max_extent_bytes = 32 * kBlockBytes;  // as many blocks an extent as with real sizes
    options.max_answer_runs = 4'194'304;
    store_ = std::make_unique<BlockStore>(options, registry_, clock_, context_.get_executor(),
                                          BootId(1));
    std::vector<Slot> slots(lanes / 2);
    for (Slot& slot : slots) slot.k_bytes = slot.v_bytes = kBlockBytes / lanes;
    layout_ = store_->intern(*Layout::make(std::move(slots)));
    for (std::uint32_t set = 0; set < sets; ++set) add_set(set);
  }

  std::uint32_t sets() const { return static_cast<std::uint32_t>(hashes_.size()); }

  /// The request itself is warm: it has just been received.
  void receive(std::uint32_t set) const {
    std::uint64_t sum = 0;
    for (const std::string_view hash : views_[set]) sum += static_cast<unsigned char>(hash[0]);
    benchmark::DoNotOptimize(sum);
  }

  QueryAnswer query(std::uint32_t set) {
    QueryRequest request;
    request.session = SessionId(1);
    request.read = ReadId(next_read_++);
    request.name_space = "model/bench";
    request.hashes = views_[set];
    auto answer = store_->query_for_transfer(request);
    if (!answer || answer->block_count != kBlocks) std::abort();
    return std::move(*answer);
  }
  void release() { store_->release(SessionId(1), ReadId(next_read_ - 1)); }

 private:
  void add_set(std::uint32_t set) {
    SeededRandom random(set);
    std::vector<std::string> hashes(kBlocks);
    for (std::string& hash : hashes) {
      for (int word = 0; word < 4; ++word) {
        const std::uint64_t value = random.next();
        hash.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
    }
    std::vector<std::string_view> views(hashes.begin(), hashes.end());
    std::vector<std::uint32_t> part_of(layout_->lanes());
    for (std::uint32_t lane = 0; lane < part_of.size(); ++lane) {
      part_of[lane] = lane / 8 % 2;
    }
    const std::vector<std::int32_t> numa{0, 1};
    SaveRequest request;
    request.name_space = "model/bench";
    request.layout = layout_;
    request.hashes = views;
    request.part_of_lane = part_of;
    request.part_numa = numa;
    auto save = store_->begin(request);
    if (!save || !save->put_part(0) || !save->put_part(1) || !save->seal()) std::abort();
    hashes_.push_back(std::move(hashes));
    auto& asked = views_.emplace_back(hashes_.back().begin(), hashes_.back().end());
    if (!permuted_) return;
    for (std::size_t i = asked.size(); i > 1; --i) std::swap(asked[i - 1], asked[random.below(i)]);
  }

  const bool permuted_;
  asio::io_context context_;
  SteadyClock clock_;
  RegionRegistry registry_;
  std::unique_ptr<BlockStore> store_;
  std::shared_ptr<const Layout> layout_;
  std::vector<std::vector<std::string>> hashes_;
  std::vector<std::vector<std::string_view>> views_;
  std::uint64_t next_read_ = 1;
};

void empty_the_caches() {
  static std::vector<std::uint64_t> buffer(kCacheBytes / sizeof(std::uint64_t), 1);
  for (std::size_t i = 0; i < buffer.size(); i += 8) ++buffer[i];
  benchmark::ClobberMemory();
}

/// The whole query with its lease, in CPU time of this thread: what a busy machine takes away is
/// not counted. Release is not timed.
void query(benchmark::State& state, bool cold, bool permuted) {
  Holder holder(static_cast<std::uint32_t>(state.range(0)), cold ? 64 : 1, permuted);
  std::uint32_t set = 0;
  std::size_t runs = 0;
  std::vector<double> microseconds;
  for (auto _ : state) {
    if (cold) {
      set = (set + 17) % holder.sets();
      empty_the_caches();
      holder.receive(set);
    }
    const TimePoint begin = machine_now();
    const QueryAnswer answer = holder.query(set);
    const Duration taken = machine_now() - begin;
    state.SetIterationTime(std::chrono::duration<double>(taken).count());
    microseconds.push_back(std::chrono::duration<double, std::micro>(taken).count());
    runs = answer.runs.runs();
    holder.release();
  }
  std::sort(microseconds.begin(), microseconds.end());
  state.counters["p50_us"] = microseconds[microseconds.size() / 2];
  state.counters["min_us"] = microseconds.front();
  state.counters["runs"] = static_cast<double>(runs);
}

void query_warm(benchmark::State& state) { query(state, false, false); }
void query_cold(benchmark::State& state) { query(state, true, false); }
void query_cold_permuted(benchmark::State& state) { query(state, true, true); }

BENCHMARK(query_warm)
    ->Arg(144)
    ->Arg(288)
    ->Arg(576)
    ->Arg(1152)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(query_cold)
    ->Arg(144)
    ->Arg(288)
    ->Arg(576)
    ->Arg(1152)
    ->UseManualTime()
    ->Iterations(60)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(query_cold_permuted)
    ->Arg(144)
    ->Arg(576)
    ->UseManualTime()
    ->Iterations(20)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace corail
