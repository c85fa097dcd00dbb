#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "apps/p2p_bench/bench_options.h"
#include "engine/rail/rail_choice.h"
#include "engine/rail/rail_spec.h"
#include "engine/rail/tcp/tcp_limits.h"

namespace corail::bench {
namespace {

/// The most rails and connections that a run may open (I8).
constexpr std::size_t kMaxRails = kMaxRailSpecs;
constexpr std::uint64_t kLeastReadBytes = 4 * kKiB;
constexpr std::uint64_t kMostReadBytes = kGiB;

Error refuse(std::string sentence) { return Error(Errc::kInvalidArgument, std::move(sentence)); }

Result<void> check_role(const BenchOptions& options) {
  if (options.role == Role::kRequester && options.peer.empty()) {
    return refuse("--role requester needs the ADDR:PORT of a holder");
  }
  if (options.role != Role::kRequester && !options.peer.empty()) {
    return refuse(fmt::format("ADDR:PORT means a requester, it cannot go with --role {}",
                              to_string(options.role)));
  }
  if (options.role == Role::kHolder && !options.json.empty()) {
    return refuse("--json is for the requester, a holder measures nothing");
  }
  if (options.role == Role::kHolder && options.limit_ratio) {
    return refuse("--limit-ratio is for the requester, a holder measures nothing");
  }
  return ok_result();
}

Result<void> check_rails(const BenchOptions& options) {
  const auto empty = [](const std::string& rail) { return rail.empty(); };
  if (options.rails.empty() || std::ranges::any_of(options.rails, empty)) {
    return refuse("--rails has an empty entry, it is a list like tcp:10.0.0.1,tcp:10.0.1.1");
  }
  if (options.rails.size() > kMaxRails) {
    return refuse(fmt::format("--rails lists {} rails, at most {} are possible",
                              options.rails.size(), kMaxRails));
  }
  const auto choices = parse_rail_choices(options.rails);
  if (!choices.ok()) return refuse("--rails: " + choices.error().detail());
  if (options.channels_per_rail == 0 || options.channels_per_rail > kMaxChannels) {
    return refuse(fmt::format("--channels-per-rail {} is not possible, 1 to {} are",
                              options.channels_per_rail, kMaxChannels));
  }
  if (options.max_read_bytes < kLeastReadBytes || options.max_read_bytes > kMostReadBytes) {
    return refuse(fmt::format("--max-read-bytes {} is not possible, 4 KiB to 1 GiB are",
                              options.max_read_bytes));
  }
  if (options.window_bytes < options.max_read_bytes) {
    return refuse("--window-bytes must be at least --max-read-bytes, or no read fits the window");
  }
  if (options.max_region_bytes != 0 && options.max_region_bytes < kLeastRegionBytes) {
    return refuse(fmt::format("--max-region-bytes {} is not possible, 1 MiB or more are, and 0",
                              options.max_region_bytes));
  }
  const auto tuning = check_tuning(options.path_tuning);
  if (!tuning.ok()) return refuse("--" + tuning.error().detail());
  if (options.send_buffer_bytes > kMaxSocketBufferBytes) {
    return refuse(fmt::format("--send-buffer-bytes {} is not possible, 0 to 1 GiB are",
                              options.send_buffer_bytes));
  }
  return ok_result();
}

Result<void> check_reads(const BenchOptions& options) {
  if (options.concurrency > kMaxConcurrency) {
    return refuse(fmt::format("--concurrency {} is not possible, 1 to {} are", options.concurrency,
                              kMaxConcurrency));
  }
  if (options.lane_range > options.shape.lanes()) {
    return refuse(fmt::format("--lane-range {} is not possible, the blocks have {} lanes",
                              options.lane_range, options.shape.lanes()));
  }
  if (std::ranges::count(options.encodings, AnswerEncoding::kSegments) == 0) return ok_result();
  if (options.shape.segment_bytes < kLeastReadBytes) {
    return refuse(
        "--encoding segments makes each segment a read, which needs --segment-bytes of "
        "at least 4 KiB");
  }
  const std::uint64_t most = StoreOptions().max_answer_runs;
  if (std::uint64_t{options.shape.blocks} * options.shape.lanes() > most) {
    return refuse(
        fmt::format("--encoding segments can tell of {} segments, use fewer --blocks", most));
  }
  return ok_result();
}

Result<void> check_trace(const BenchOptions& options) {
  if (options.trace.empty()) return ok_result();
  if (options.role != Role::kBoth) {
    return refuse("--trace runs holder and requester in one process, it cannot go with a --role");
  }
  if (options.cancel_after_ms) {
    return refuse("--trace cannot go with --cancel-after, it has --abort-rate");
  }
  if (options.lane_range != 0) return refuse("--trace reads whole blocks, without --lane-range");
  if (options.limit_ratio) return refuse("--trace measures no limit for --limit-ratio");
  if (options.encodings.size() != 1) return refuse("--trace takes a single --encoding");
  const Placement placement = options.shape.placement;
  if (placement != Placement::kBump && placement != Placement::kLaneMajor) {
    return refuse("--trace saves as the requests come, with --layout bump or lane-major");
  }
  if (options.trace_capacity_blocks > StoreOptions().max_blocks) {
    return refuse(fmt::format("--trace-capacity-blocks {} is not possible, 1 to {} are",
                              options.trace_capacity_blocks, StoreOptions().max_blocks));
  }
  if (options.abort_rate > 1) {
    return refuse(fmt::format("--abort-rate {} is not possible, 0 to 1 are", options.abort_rate));
  }
  return ok_result();
}

Result<void> check_objects(const BenchOptions& options) {
  if (options.objects.count == 0) return ok_result();
  auto work = check_object_work(options.objects);
  if (!work.ok()) return work;
  if (!options.trace.empty()) return refuse("--objects cannot go with a --trace of blocks");
  if (options.lane_range != 0) return refuse("--objects have no lanes for --lane-range");
  if (options.encodings.size() != 1 || options.encodings.front() != AnswerEncoding::kParts) {
    return refuse("--encoding is about blocks, it cannot go with --objects");
  }
  return ok_result();
}

}  // namespace

Result<void> check_options(const BenchOptions& options) {
  const auto role = check_role(options);
  if (!role.ok()) return role;
  const auto objects = check_objects(options);
  if (!objects.ok()) return objects;
  const auto shape = check_shape(options.shape);
  if (!shape.ok()) return shape;
  const auto rails = check_rails(options);
  if (!rails.ok()) return rails;
  const auto reads = check_reads(options);
  if (!reads.ok()) return reads;
  const auto trace = check_trace(options);
  if (!trace.ok()) return trace;
  if (options.iterations > kMaxIterations || options.warmup > kMaxIterations) {
    return refuse(fmt::format("-n and --warmup are at most {}", kMaxIterations));
  }
  if (options.limit_ratio && !options.limit) {
    return refuse("--limit-ratio compares with the limit, it cannot go with --no-limit");
  }
  return ok_result();
}

std::vector<std::string> holder_arguments(const BenchOptions& options) {
  std::vector<std::string> arguments = {"--role", "holder", "--supervised"};
  const auto add = [&arguments](const char* flag, std::string value) {
    arguments.emplace_back(flag);
    arguments.push_back(std::move(value));
  };
  const auto number = [&add](const char* flag, std::uint64_t value) {
    add(flag, std::to_string(value));
  };
  const Shape& shape = options.shape;
  const ObjectWork& objects = options.objects;
  add("--listen", options.listen);
  number("--seed", shape.seed);
  if (objects.count != 0) {
    number("--objects", objects.count);
    number("--object-mib", objects.object_mib);
    number("--stripe-mib", objects.stripe_mib);
    add("--store", objects.store);
    add("--mode", to_string(objects.transfer));
  } else {
    number("--blocks", shape.blocks);
    number("--layers", shape.layers);
    number("--ranks", shape.ranks);
    number("--segments", shape.segments);
    number("--segment-bytes", shape.segment_bytes);
    number("--numa-nodes", shape.numa_nodes);
    number("--sets", shape.sets);
    add("--layout", to_string(shape.placement));
  }
  std::string rails;
  for (const std::string& rail : options.rails) rails += (rails.empty() ? "" : ",") + rail;
  add("--rails", rails);
  number("--channels-per-rail", options.channels_per_rail);
  number("--max-read-bytes", options.max_read_bytes);
  number("--window-bytes", options.window_bytes);
  number("--send-buffer-bytes", options.send_buffer_bytes);
  const PathTuning& tuning = options.path_tuning;
  number("--traffic-class", tuning.traffic_class);
  number("--service-level", tuning.service_level);
  number("--ack-timeout", tuning.timeout);
  number("--retry-count", tuning.retries);
  number("--rnr-retry", tuning.rnr_retries);
  number("--pkey-index", tuning.pkey_index);
  number("--max-region-bytes", options.max_region_bytes);
  number("--spin-us", options.spin_us);
  if (options.gid_index) number("--gid-index", *options.gid_index);
  add("--log-level", to_string(options.log_level));
  if (options.huge_pages) arguments.emplace_back("--huge-pages");
  if (!options.limit) arguments.emplace_back("--no-limit");
  return arguments;
}

std::string to_string(Role role) {
  switch (role) {
    case Role::kBoth:
      return "both";
    case Role::kHolder:
      return "holder";
    case Role::kRequester:
      return "requester";
  }
  return "unknown";
}

std::string to_string(Integrity integrity) {
  return integrity == Integrity::kXxh3 ? "xxh3" : "none";
}

std::string to_string(AnswerEncoding encoding) {
  switch (encoding) {
    case AnswerEncoding::kRuns:
      return "runs";
    case AnswerEncoding::kParts:
      return "parts";
    case AnswerEncoding::kSegments:
      return "segments";
  }
  return "unknown";
}

std::uint64_t max_read_bytes_for(const BenchOptions& options, AnswerEncoding encoding) {
  if (encoding != AnswerEncoding::kSegments) return options.max_read_bytes;
  return std::min<std::uint64_t>(options.max_read_bytes, options.shape.segment_bytes);
}

std::string to_string(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
    case LogLevel::kOff:
      return "off";
  }
  return "warning";
}

}  // namespace corail::bench
