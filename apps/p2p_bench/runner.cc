#include "apps/p2p_bench/runner.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "apps/p2p_bench/destination.h"
#include "apps/p2p_bench/object_puts.h"
#include "apps/p2p_bench/process_usage.h"
#include "apps/p2p_bench/save_steps.h"

namespace corail::bench {
namespace {

/// A read below this rate is given up.
constexpr std::uint64_t kSlowestBytesPerSecond = 20 * kMiB;

Duration deadline_for(const BenchOptions& options) {
  const std::uint64_t bytes = options.shape.payload_bytes() * options.concurrency;
  const auto grown = std::chrono::seconds(bytes / kSlowestBytesPerSecond);
  return std::max(FetchOptions().deadline, Duration(grown));
}

Duration from_milliseconds(double milliseconds) {
  return std::chrono::duration_cast<Duration>(
      std::chrono::duration<double, std::milli>(milliseconds));
}

double in_gib(std::uint64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(kGiB);
}

ObjectMode mode_of(ObjectTransfer transfer) {
  return transfer == ObjectTransfer::kPush ? ObjectMode::kPush : ObjectMode::kPull;
}

}  // namespace

Runner::Runner(RunParts parts, RunResult& result)
    : parts_(std::move(parts)), options_(parts_.options), result_(result), limit_(parts_.limit) {
  fetch_.integrity = options_.integrity;
  fetch_.deadline = deadline_for(options_);
  fetch_.cancel = parts_.cancel;
  fetch_.retry_on_survivors = options_.retry_on_survivors;
  object_.integrity = fetch_.integrity;
  object_.deadline = fetch_.deadline;
  object_.cancel = fetch_.cancel;
  object_.retry_on_survivors = fetch_.retry_on_survivors;
  object_.mode = mode_of(options_.objects.transfer);
  object_.scheduler = to_string(options_.objects.scheduler);
  result_.others.resize(parts_.askers.size() - 1);
  for (std::size_t i = 0; i < parts_.askers.size(); ++i) {
    RunResult& of_asker = i == 0 ? result_ : result_.others[i - 1];
    of_asker.encoding = parts_.askers[i].encoding;
  }
}

Result<void> Runner::run() {
  if (options_.objects.count != 0) {
    auto put = put_objects();
    if (!put.ok()) return put;
  }
  auto layout = make_layout(options_.shape);
  if (!layout.ok()) return std::move(layout).error();
  layout_ = std::make_shared<const Layout>(std::move(*layout));
  for (std::uint32_t set = 0; set < options_.shape.sets; ++set) {
    orders_.push_back(request_order(options_.shape, set));
    keys_.push_back(
        std::make_shared<const BlockKeys>(make_keys(options_.shape, set, orders_.back())));
  }
  for (std::uint64_t i = 0; i < options_.warmup; ++i) {
    auto fine = run_iteration(i, false);
    if (!fine.ok()) return fine;
  }
  const TimePoint start = parts_.clock.now();
  const auto time_is_up = [&] {
    const std::chrono::duration<double> spent = parts_.clock.now() - start;
    return options_.seconds && spent.count() >= *options_.seconds;
  };
  for (std::uint64_t i = 0; i < options_.iterations; ++i) {
    if (parts_.cancel.cancelled() || (i != 0 && time_is_up())) break;
    auto fine = run_iteration(options_.warmup + i, true);
    if (!fine.ok()) return fine;
  }
  return ok_result();
}

Result<void> Runner::put_objects() {
  const Asker& asker = parts_.askers.front();
  progress_.show(fmt::format("putting {} objects", options_.objects.count));
  auto rates =
      bench::put_objects(*asker.node, *asker.peer, options_.shape, parts_.clock, parts_.cancel);
  if (!rates.ok()) return std::move(rates).error();
  result_.put_gib_s = std::move(*rates);
  return ok_result();
}

Result<void> Runner::run_iteration(std::uint64_t number, bool measured) {
  show(number, measured);
  for (std::size_t i = 0; i < parts_.askers.size(); ++i) {
    if (parts_.cancel.cancelled()) return ok_result();
    RunResult& result = i == 0 ? result_ : result_.others[i - 1];
    auto read = read_sets(Turn{parts_.askers[i], result, measured}, number);
    if (!read.ok()) return read;
  }
  const auto set = static_cast<std::uint32_t>(number % options_.shape.sets);
  if (limit_ != nullptr && !parts_.cancel.cancelled()) run_limit(set, measured);
  return ok_result();
}

Result<void> Runner::read_sets(const Turn& turn, std::uint64_t number) {
  RoundRequest request;
  request.node = turn.asker.node;
  request.peer = turn.asker.peer;
  request.clock = &parts_.clock;
  request.layout = layout_;
  request.lane_range = options_.lane_range;
  request.object = object_;
  request.fetch = fetch_;
  request.fetch.encoding = turn.asker.encoding;
  if (turn.measured && options_.cancel_after_ms) {
    request.cancel_after = from_milliseconds(*options_.cancel_after_ms);
  }
  std::vector<std::uint32_t> sets;
  for (std::uint32_t i = 0; i < options_.concurrency; ++i) {
    const std::uint64_t read = number * options_.concurrency + i;
    sets.push_back(static_cast<std::uint32_t>(read % options_.shape.sets));
    if (options_.objects.count != 0) {
      request.objects.push_back(object_key(options_.shape, sets.back()));
    } else {
      request.keys.push_back(keys_[sets.back()]);
    }
  }

  Iteration each;  // what the reads of a round cannot be told apart by is shared evenly
  const auto holder_before = holder_usage();
  const double cpu_before = process_cpu_seconds();
  ReadRound round = run_round(request);
  each.requester_cpu_s = (process_cpu_seconds() - cpu_before) / options_.concurrency;
  const auto holder_after = holder_usage();
  if (holder_before && holder_after) {
    each.holder_cpu_s = (holder_after->cpu_s - holder_before->cpu_s) / options_.concurrency;
    result_.holder_peak_rss = holder_after->peak_rss;
  }
  const auto committed = [](const ReadOutcome& outcome) { return outcome.view.ok(); };
  if (turn.measured && std::ranges::all_of(round.reads, committed)) {
    const double seconds = std::chrono::duration<double>(round.took).count();
    const std::uint64_t bytes = options_.shape.payload_bytes() * options_.concurrency;
    if (seconds > 0) turn.result.round_gib_s.push_back(in_gib(bytes) / seconds);
  }
  const std::uint64_t cancelled_before = turn.result.cancelled;
  for (std::size_t i = 0; i < round.reads.size(); ++i) {
    auto taken = take(turn, std::move(round.reads[i]), sets[i], each);
    if (!taken.ok()) return taken;
  }
  round.reads.clear();
  if (turn.result.cancelled == cancelled_before) return ok_result();
  return look_for_late_writes(turn);
}

void Runner::run_limit(std::uint32_t set, bool measured) {
  // The views of the reads are gone: what is allocated now are the warm slabs that they had.
  auto chunks = allocate_like_reads(parts_.askers.front().node->memory(), options_.shape, 1);
  if (!chunks.ok()) return miss_limit(chunks.error().to_string());
  std::vector<std::span<std::byte>> destination;
  for (const SlabChunk& chunk : *chunks) destination.push_back(chunk.bytes());
  const double payload = in_gib(options_.shape.payload_bytes());
  for (std::size_t i = 0; i < kLimitCallBytes.size(); ++i) {
    const auto took =
        limit_->fetch(set, static_cast<std::uint32_t>(kLimitCallBytes[i]), destination);
    if (!took.ok()) return miss_limit(took.error().detail());
    const double seconds = std::chrono::duration<double>(*took).count();
    if (measured && seconds > 0) result_.limit_gib_s[i].push_back(payload / seconds);
  }
}

void Runner::miss_limit(std::string why) {
  result_.limit_missing = std::move(why);
  limit_ = nullptr;
}

std::optional<HolderUsage> Runner::holder_usage() {
  if (parts_.holder == nullptr) return std::nullopt;
  return parts_.holder->usage();
}

void Runner::show(std::uint64_t number, bool measured) {
  if (!measured) {
    progress_.show(fmt::format("warm-up {}/{}", number + 1, options_.warmup));
    return;
  }
  const std::string of =
      options_.iterations == kMaxIterations ? "" : fmt::format("/{}", options_.iterations);
  progress_.show(fmt::format("iteration {}{}", number - options_.warmup + 1, of));
}

}  // namespace corail::bench
