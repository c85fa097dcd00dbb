// The holder's answer to a query: scan of the prefix with its lease, and encoding into the frame
// that is sent. Wall clock, one thread, no network. The aim: at most 0.3 ms cold for 1000 blocks of
// 576 lanes, whatever the size of their segments.
//
// Cold: before each call a buffer larger than the last-level cache is written through, so that
// index, blocks, extents, layout and template of the answer are in no cache; of several sets of
// blocks, each call asks for another one. Only the request's own bytes are warm, as they have just
// been received. Warm: the same set again and again.
//
// A row is one shape of blocks; slots x segments are the lanes. Columns: "Time" is the mean of scan
// and encoding; min_ms, p50_ms and p99_ms are its distribution, which counts what other work on the
// machine takes away; scan_p50_ms is the scan's part of it; answer_KiB is the size of the frame's
// body, runs the number of runs in it. --benchmark_counters_tabular=true aligns them.
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
#include "rpc/codec.h"
#include "rpc/frame.h"

namespace corail {
namespace {

constexpr std::uint32_t kBlocks = 1000;
constexpr std::size_t kHashBytes = 32;
constexpr std::size_t kCacheBytes = 256 * kMiB;
constexpr std::uint64_t kMostBytes = 2 * kGiB;  // of all sets together
constexpr std::uint64_t kMostSets = 64;

/// The blocks of a row. Segments are small: their bytes are never looked at.
struct Shape {
  std::uint32_t slots = 0;
  std::uint32_t segments = 0;  // of a slot, 1 or 2
  std::uint32_t segment_bytes = 0;

  std::uint32_t block_bytes() const { return slots * segments * segment_bytes; }
  std::uint32_t sets() const {
    const std::uint64_t set_bytes = std::uint64_t{kBlocks} * block_bytes();
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(kMostBytes / set_bytes, 2, kMostSets));
  }
};

/// A store that holds sets of blocks in two parts on two nodes, each lane in the part of its half.
class Holder {
 public:
  Holder(Shape shape, std::uint32_t sets, bool permuted) : permuted_(permuted) {
    StoreOptions options;
    const std::uint64_t half = std::uint64_t{sets} * kBlocks * shape.block_bytes() / 2 + kMiB;
    options.nodes = {{0, half}, {1, half}};
    options.max_extent_bytes = 32 * shape.block_bytes();  // as many blocks an extent as in service
    options.max_answer_runs = 4'194'304;
    store_ = std::make_unique<BlockStore>(options, registry_, clock_, context_.get_executor(),
                                          BootId(1));
    std::vector<Slot> slots(shape.slots);
    for (Slot& slot : slots) {
      slot.k_bytes = shape.segment_bytes;
      slot.v_bytes = shape.segments == 2 ? shape.segment_bytes : 0;
    }
    layout_ = store_->intern(*Layout::make(std::move(slots)));
    for (std::uint32_t set = 0; set < sets; ++set) add_set(set);
  }

  std::uint32_t sets() const { return static_cast<std::uint32_t>(requests_.size()); }

  /// The request itself is warm: it has just been received.
  void receive(std::uint32_t set) const {
    std::uint64_t sum = 0;
    for (const char byte : requests_[set]) sum += static_cast<unsigned char>(byte);
    benchmark::DoNotOptimize(sum);
  }

  QueryAnswer query(std::uint32_t set, AnswerEncoding encoding) {
    QueryRequest request;
    request.encoding = encoding;
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
      for (std::size_t word = 0; word < kHashBytes / sizeof(std::uint64_t); ++word) {
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
    if (permuted_) {
      for (std::size_t i = kBlocks; i > 1; --i) std::swap(hashes[i - 1], hashes[random.below(i)]);
    }
    // As in a frame that was received: one after the other, in the order of asking.
    std::string& received = requests_.emplace_back();
    for (const std::string& hash : hashes) received += hash;
    auto& asked = views_.emplace_back();
    for (std::size_t at = 0; at < received.size(); at += kHashBytes) {
      asked.push_back(std::string_view(received).substr(at, kHashBytes));
    }
  }

  const bool permuted_;
  asio::io_context context_;
  SteadyClock clock_;
  RegionRegistry registry_;
  std::unique_ptr<BlockStore> store_;
  std::shared_ptr<const Layout> layout_;
  std::vector<std::string> requests_;
  std::vector<std::vector<std::string_view>> views_;
  std::uint64_t next_read_ = 1;
};

void empty_the_caches() {
  static std::vector<std::uint64_t> buffer(kCacheBytes / sizeof(std::uint64_t), 1);
  for (std::size_t i = 0; i < buffer.size(); i += 8) ++buffer[i];
  benchmark::ClobberMemory();
}

double milliseconds(Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

double percentile(std::vector<double>& values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, values.size() * percent / 100)];
}

/// Release is not timed.
void answer(benchmark::State& state, bool cold, bool permuted,
            AnswerEncoding encoding = AnswerEncoding::kRuns) {
  const Shape shape{static_cast<std::uint32_t>(state.range(0)),
                    static_cast<std::uint32_t>(state.range(1)),
                    static_cast<std::uint32_t>(state.range(2))};
  Holder holder(shape, cold ? shape.sets() : 1, permuted);
  TemplateCache templates;
  std::uint32_t set = 0;
  std::size_t runs = 0;
  std::size_t bytes = 0;
  std::vector<double> whole;
  std::vector<double> scan;
  for (auto _ : state) {
    if (cold) {
      set = (set + 1) % holder.sets();
      empty_the_caches();
      holder.receive(set);
    }
    const TimePoint begin = machine_now();
    const QueryAnswer found = holder.query(set, encoding);
    const TimePoint scanned = machine_now();
    const FrameBuffer frame = encode_query_answer(found, templates);
    const TimePoint end = machine_now();
    state.SetIterationTime(std::chrono::duration<double>(end - begin).count());
    whole.push_back(milliseconds(end - begin));
    scan.push_back(milliseconds(scanned - begin));
    runs = found.encoding == AnswerEncoding::kRuns ? found.runs.runs() : 0;
    bytes = frame.body_bytes();
    holder.release();
  }
  state.counters["p50_ms"] = percentile(whole, 50);
  state.counters["p99_ms"] = percentile(whole, 99);
  state.counters["min_ms"] = percentile(whole, 0);
  state.counters["scan_p50_ms"] = percentile(scan, 50);
  state.counters["runs"] = static_cast<double>(runs);
  state.counters["answer_KiB"] = static_cast<double>(bytes) / 1024;
}

void warm(benchmark::State& state) { answer(state, false, false); }
void cold(benchmark::State& state) { answer(state, true, false); }
void cold_permuted(benchmark::State& state) { answer(state, true, true); }
void cold_parts(benchmark::State& state) { answer(state, true, false, AnswerEncoding::kParts); }
void cold_permuted_parts(benchmark::State& state) {
  answer(state, true, true, AnswerEncoding::kParts);
}

/// 288 slots of one segment and of two, with segments of three sizes: what must not matter is the
/// size.
void shapes(benchmark::internal::Benchmark* rows) {
  rows->ArgNames({"slots", "segments", "segment_B"})->UseManualTime();
  rows->Unit(benchmark::kMillisecond);
  for (const int segments : {1, 2}) {
    for (const int bytes : {64, 256, 1024}) rows->Args({288, segments, bytes});
  }
}

BENCHMARK(warm)->Apply(shapes);
BENCHMARK(cold)->Apply(shapes)->Iterations(60);
BENCHMARK(cold_permuted)->Apply(shapes)->Iterations(20);
BENCHMARK(cold_parts)->Apply(shapes)->Iterations(60);
BENCHMARK(cold_permuted_parts)->Apply(shapes)->Iterations(60);

}  // namespace
}  // namespace corail
