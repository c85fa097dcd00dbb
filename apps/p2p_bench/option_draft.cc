#include "apps/p2p_bench/option_draft.h"

#include <algorithm>
#include <map>
#include <utility>

#include "apps/p2p_bench/option_values.h"

namespace corail::bench {
namespace {

constexpr const char* kDefaultListen = "127.0.0.1:7700";

void declare_roles(OptionBuilder& build, BenchOptions& options) {
  build.group("Roles");
  build.address("ADDR:PORT", options.peer, false, "",
                "Ask the holder at this address; means --role requester");
  const std::map<std::string, Role> roles = {
      {"both", Role::kBoth}, {"holder", Role::kHolder}, {"requester", Role::kRequester}};
  build.choice("--role", options.role, roles, "With both, the holder is a child process");
  build.address(
      "--listen", options.listen, true, kDefaultListen,
      "Where the holder takes requests, with raw sockets one port above; both: a free port");
}

void declare_shape(OptionBuilder& build, Draft& draft) {
  Shape& shape = draft.options.shape;
  build.group("Shape of the data, the same on both sides");
  const std::map<std::string, Preset> presets = {{"seed-4k", Preset::kSeed4k},
                                                 {"seed-64k", Preset::kSeed64k}};
  build.choice("--preset", draft.preset, presets,
               "1000 blocks with 4 KiB segments, or 200 with 64 KiB");
  build.whole("--blocks", shape.blocks, 1, "Blocks that one iteration reads");
  build.whole("--layers", shape.layers, 1, "Layers; a block has layers x ranks slots");
  build.whole("--ranks", shape.ranks, 1, "Tensor-parallel ranks");
  build.whole("--segments", shape.segments, 1, "Segments of a slot: 1, or 2 (K and V)");
  build.size("--segment-bytes", shape.segment_bytes, "Size of one segment");
  build.whole("--numa-nodes", shape.numa_nodes, 1,
              "NUMA nodes that the ranks are spread over; mere labels where there are fewer");
  build.whole("--sets", shape.sets, 1, "Disjoint block sets that the iterations rotate through");
  const std::map<std::string, Placement> placements(kPlacements.begin(), kPlacements.end());
  build.choice("--layout", shape.placement, placements,
               "How the blocks of a set lie in the holder's memory");
  build.whole("--seed", shape.seed, 0, "Seed of contents and block hashes");
}

void declare_paths(OptionBuilder& build, Draft& draft) {
  BenchOptions& options = draft.options;
  build.group("Rails and tuning");
  build.text("--rails", "SPEC,...", draft.rails, "Local addresses and RDMA ports, one rail each");
  build.whole("--channels-per-rail", options.channels_per_rail, 1, "Connections of a rail");
  build.size("--max-read-bytes", options.max_read_bytes, "Longest single read");
  build.size("--window-bytes", options.window_bytes, "Most bytes in flight on a rail");
  build.size("--send-buffer-bytes", options.send_buffer_bytes,
             "Kernel's send buffer of a connection; 0: its own choice", 0);
  build.flag("--huge-pages", options.huge_pages, "Ask for huge pages on both sides");
}

void declare_verbs(OptionBuilder& build, BenchOptions& options) {
  PathTuning& tuning = options.path_tuning;
  build.group("Verbs rails");
  build.range("--traffic-class", tuning.traffic_class, 0, 255, "Of the packets' IP header on RoCE");
  build.range("--service-level", tuning.service_level, 0, kMaxServiceLevel,
              "Of the packets, which switches map to a priority");
  build.range("--ack-timeout", tuning.timeout, 1, kMaxAckTimeout,
              "A packet is sent again after 4.096 us x 2^N without an answer");
  build.range("--retry-count", tuning.retries, 0, kMaxRetries, "How often it is sent again");
  build.range("--rnr-retry", tuning.rnr_retries, 0, kMaxRetries,
              "Tries while the peer is not ready; 7: for ever");
  build.range("--pkey-index", tuning.pkey_index, 0, 65'535, "Of the partition key in its table");
  build.range("--spin-us", options.spin_us, 0, 1'000'000,
              "Microseconds of polling after a completion before a rail's thread sleeps");
  build.size("--max-region-bytes", options.max_region_bytes,
             "Longest registration; 0: what the device takes", 0);
  build.range("--gid-index", options.gid_index, 0, 255,
              "GID of the rails that name none; without it, the best one");
}

void declare_run(OptionBuilder& build, Draft& draft) {
  BenchOptions& options = draft.options;
  build.group("The run");
  build.whole("-n,--iterations", options.iterations, 1, "Measured iterations");
  build.decimal("-D,--duration", "SECONDS", options.seconds,
                "Measure for so long; with -n, what ends first");
  build.whole("--warmup", options.warmup, 0, "Iterations before those that count");
  const std::map<std::string, Integrity> integrities = {{"none", Integrity::kNone},
                                                        {"xxh3", Integrity::kXxh3}};
  build.choice("--integrity", options.integrity, integrities,
               "Checksums that the engine checks before it commits");
  const std::map<std::string, bool> verifies = {{"none", false}, {"full", true}};
  build.choice("--verify", options.verify, verifies,
               "The bench's own check of each byte, outside of the timed part");
  build.decimal("--limit-ratio", "X", options.limit_ratio,
                "Exit 1 when the median goodput is below X times the limit, that of raw sockets");
  build.flag("--no-limit", draft.no_limit, "Do not measure the limit beside the reads");
}

void declare_reads(OptionBuilder& build, BenchOptions& options) {
  build.group("The reads");
  const std::map<std::string, AnswerEncoding> encodings = {{"parts", AnswerEncoding::kParts},
                                                           {"runs", AnswerEncoding::kRuns},
                                                           {"segments", AnswerEncoding::kSegments}};
  build.choices("--encoding", options.encodings, encodings,
                "How answers tell addresses, measured in turns; segments: one read each");
  build.whole("--concurrency", options.concurrency, 1, "Reads at a time, over rotating sets");
  build.decimal("--cancel-after", "MS", options.cancel_after_ms,
                "Cancel each measured read so many ms after its start");
  build.flag("--retry-on-survivors", options.retry_on_survivors,
             "Read over the other rails what a rail fails to bring");
  build.whole("--lane-range", options.lane_range, 0,
              "Read so many lanes at a time under one lease, each committed by itself; 0: all");
}

void declare_objects(OptionBuilder& build, ObjectWork& objects) {
  build.group("Striped objects, instead of blocks");
  build.whole("--objects", objects.count, 1, "Put so many objects, then read them in turns");
  build.whole("--object-mib", objects.object_mib, 1, "Size of an object in MiB");
  build.whole("--stripe-mib", objects.stripe_mib, 1, "Size of a stripe in MiB");
  build.text("--store", "memory|DIR,...", objects.store,
             "Where the holder keeps them: in memory, or one directory per device");
  const std::map<std::string, ObjectTransfer> transfers = {{"pull", ObjectTransfer::kPull},
                                                           {"push", ObjectTransfer::kPush}};
  build.choice("--mode", objects.transfer, transfers,
               "Read the holder's memory, or let it write; directories: always push");
  const std::map<std::string, ObjectScheduler> schedulers = {
      {"least_loaded", ObjectScheduler::kLeastLoaded},
      {"round_robin", ObjectScheduler::kRoundRobin},
      {"locality", ObjectScheduler::kLocality}};
  build.choice(
      "--scheduler", objects.scheduler, schedulers,
      "Which rail takes which slice; locality: as least_loaded, until rails know their NUMA node");
}

void declare_trace(OptionBuilder& build, BenchOptions& options) {
  build.group("Replay of a trace, instead of the run");
  build.text("--trace", "FILE[.gz]", options.trace,
             "Requests as lines of JSON with timestamp [ms] and hash_ids");
  build.whole("--trace-capacity-blocks", options.trace_capacity_blocks, 1,
              "Blocks that the holder keeps, the least recently used go");
  build.number("--speed", "X", options.speed, "Of the trace's time; 0: as fast as possible");
  build.number("--abort-rate", "X", options.abort_rate, "Cancel this share of the reads, seeded");
}

void declare_output(OptionBuilder& build, BenchOptions& options) {
  build.group("Output");
  build.flag("--list-rails", options.list_rails,
             "Print this machine's rails, what limits them and what to do, and end");
  build.text("--json", "FILE|-", options.json, "Write a report as JSON, to stdout for -");
  const std::map<std::string, LogLevel> levels = {{"debug", LogLevel::kDebug},
                                                  {"info", LogLevel::kInfo},
                                                  {"warning", LogLevel::kWarning},
                                                  {"error", LogLevel::kError},
                                                  {"off", LogLevel::kOff}};
  build.choice("--log-level", options.log_level, levels, "Least level of the log on stderr");
}

void apply_preset(const OptionBuilder& build, Preset preset, Shape& shape) {
  if (preset == Preset::kNone) return;
  const bool small = preset == Preset::kSeed4k;
  if (!build.given("--blocks")) shape.blocks = small ? 1000 : 200;
  if (!build.given("--segment-bytes")) shape.segment_bytes = small ? 4096 : 65'536;
}

void apply_objects(const OptionBuilder& build, BenchOptions& options) {
  ObjectWork& objects = options.objects;
  if (objects.count == 0) return;
  if (!build.given("--stripe-mib")) {
    objects.stripe_mib = std::min(objects.stripe_mib, objects.object_mib);
  }
  if (!build.given("--mode") && !objects.in_memory()) objects.transfer = ObjectTransfer::kPush;
  if (check_object_work(objects).ok()) {
    options.shape = shape_of_objects(objects, options.shape.seed);
  }
}

/// A trace has many blocks, so that they are small.
void apply_trace_defaults(const OptionBuilder& build, BenchOptions& options) {
  if (options.trace.empty()) return;
  if (!build.given("--layers")) options.shape.layers = 4;
  if (!build.given("--ranks")) options.shape.ranks = 2;
  if (!build.given("--segment-bytes")) options.shape.segment_bytes = 256;
  if (!build.given("--concurrency")) options.concurrency = 4;
}

}  // namespace

void declare_options(OptionBuilder& build, Draft& draft) {
  declare_roles(build, draft.options);
  declare_shape(build, draft);
  declare_paths(build, draft);
  declare_verbs(build, draft.options);
  declare_run(build, draft);
  declare_reads(build, draft.options);
  declare_objects(build, draft.options.objects);
  declare_trace(build, draft.options);
  declare_output(build, draft.options);
}

BenchOptions complete_options(const OptionBuilder& build, Draft draft) {
  BenchOptions options = std::move(draft.options);
  apply_trace_defaults(build, options);
  apply_preset(build, draft.preset, options.shape);
  if (!build.given("--numa-nodes")) {
    options.shape.numa_nodes = std::min(options.shape.numa_nodes, options.shape.ranks);
  }
  apply_objects(build, options);
  options.rails = split_list(draft.rails, ',');
  options.limit = !draft.no_limit;
  if (!options.peer.empty() && !build.given("--role")) options.role = Role::kRequester;
  if (options.seconds && !build.given("--iterations")) options.iterations = kMaxIterations;
  if (!build.given("--listen")) {
    options.listen = options.role == Role::kBoth ? "127.0.0.1:0" : kDefaultListen;
  }
  return options;
}

}  // namespace corail::bench
