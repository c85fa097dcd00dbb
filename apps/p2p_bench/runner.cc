#include "apps/p2p_bench/runner.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <utility>

#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/process_usage.h"
#include "apps/p2p_bench/verify.h"

namespace corail::bench {
namespace {

/// A read below this rate is given up.
constexpr std::uint64_t kSlowestBytesPerSecond = 20 * kMiB;

Duration deadline_for(const Shape& shape) {
  const auto grown = std::chrono::seconds(shape.payload_bytes() / kSlowestBytesPerSecond);
  return std::max(FetchOptions().deadline, Duration(grown));
}

/// Errors after which the next read has a chance. All others end the run.
bool passes(const Error& error) {
  return error.error_class() == ErrorClass::kIntegrity ||
         error.error_class() == ErrorClass::kBackPressure;
}

const char* kSameShape = "both sides need the same shape flags";

}  // namespace

Runner::Runner(RunParts parts, RunResult& result)
    : parts_(std::move(parts)), options_(parts_.options), result_(result), limit_(parts_.limit) {
  fetch_.integrity = options_.integrity;
  fetch_.deadline = deadline_for(options_.shape);
  fetch_.cancel = parts_.cancel;
}

Result<void> Runner::run() {
  auto layout = make_layout(options_.shape);
  if (!layout.ok()) return std::move(layout).error();
  layout_ = std::make_shared<const Layout>(std::move(*layout));
  for (std::uint32_t set = 0; set < options_.shape.sets; ++set) {
    keys_.push_back(std::make_shared<const BlockKeys>(make_keys(options_.shape, set)));
  }
  for (std::uint64_t i = 0; i < options_.warmup; ++i) {
    auto fine = run_pair(i, false);
    if (!fine.ok()) return fine;
  }
  const TimePoint start = parts_.clock.now();
  const auto time_is_up = [&] {
    const std::chrono::duration<double> spent = parts_.clock.now() - start;
    return options_.seconds && spent.count() >= *options_.seconds;
  };
  for (std::uint64_t i = 0; i < options_.iterations; ++i) {
    if (parts_.cancel.cancelled() || (i != 0 && time_is_up())) break;
    auto fine = run_pair(options_.warmup + i, true);
    if (!fine.ok()) return fine;
  }
  return ok_result();
}

Result<void> Runner::run_pair(std::uint64_t number, bool measured) {
  if (parts_.cancel.cancelled()) return ok_result();
  const auto set = static_cast<std::uint32_t>(number % options_.shape.sets);
  show(number, measured);
  auto read = read_set(set, measured);
  if (!read.ok()) return read;
  if (limit_ != nullptr && !parts_.cancel.cancelled()) run_limit(set, measured);
  return ok_result();
}

Result<void> Runner::read_set(std::uint32_t set, bool measured) {
  Iteration iteration;
  const auto holder_before = holder_usage();
  const double cpu_before = process_cpu_seconds();
  auto view =
      await_on(parts_.node.executor(), parts_.peer.fetch_blocks(layout_, keys_[set], fetch_));
  iteration.requester_cpu_s = process_cpu_seconds() - cpu_before;
  const auto holder_after = holder_usage();
  if (holder_before && holder_after) {
    iteration.holder_cpu_s = holder_after->cpu_s - holder_before->cpu_s;
    result_.holder_peak_rss = holder_after->peak_rss;
  }
  if (!view.ok()) return judge(view.error(), measured);
  iteration.report = view->report();
  return account(std::move(*view), set, std::move(iteration), measured);
}

Result<void> Runner::judge(const Error& error, bool measured) {
  if (error.code() == Errc::kCancelled && parts_.cancel.cancelled()) {
    if (measured) ++result_.cancelled;
    return ok_result();
  }
  ++result_.failed;
  if (passes(error)) {
    if (result_.failures.size() < kMaxFailures) result_.failures.push_back(error.to_string());
    return ok_result();
  }
  if (error.code() != Errc::kNotFound && error.code() != Errc::kLayoutMismatch) return error;
  return Error(error.code(), error.stage(), fmt::format("{}; {}", error.detail(), kSameShape))
      .on_peer(error.peer());
}

Result<void> Runner::account(BlockView view, std::uint32_t set, Iteration iteration,
                             bool measured) {
  const Shape& shape = options_.shape;
  if (view.blocks() != shape.blocks || view.bytes() != shape.payload_bytes()) {
    return Error(Errc::kNotFound, Stage::kQuery,
                 fmt::format("the holder has {} of the {} blocks of set {}; {}", view.blocks(),
                             shape.blocks, set, kSameShape))
        .on_peer(parts_.peer.name());
  }
  if (options_.verify) {
    const ContentCheck check = check_content(view, shape, set);
    iteration.content_bytes = check.checked_bytes;
    iteration.mismatched_bytes = check.wrong_bytes;
  }
  // What a warm-up found wrong is wrong, too.
  if (!measured && iteration.mismatched_bytes != 0 && result_.failures.size() < kMaxFailures) {
    result_.failures.push_back(
        fmt::format("{} bytes had wrong content in the warm-up", iteration.mismatched_bytes));
  }
  if (measured) result_.iterations.push_back(std::move(iteration));
  return ok_result();
}

void Runner::run_limit(std::uint32_t set, bool measured) {
  auto chunks = limit_destination();
  if (!chunks.ok()) {
    result_.limit_missing = chunks.error().to_string();
    limit_ = nullptr;
    return;
  }
  std::vector<std::span<std::byte>> destination;
  for (const SlabChunk& chunk : *chunks) destination.push_back(chunk.bytes());
  const double payload =
      static_cast<double>(options_.shape.payload_bytes()) / static_cast<double>(kGiB);
  for (std::size_t i = 0; i < kLimitCallBytes.size(); ++i) {
    const auto took =
        limit_->fetch(set, static_cast<std::uint32_t>(kLimitCallBytes[i]), destination);
    if (!took.ok()) {
      result_.limit_missing = took.error().detail();
      limit_ = nullptr;
      return;
    }
    const double seconds = std::chrono::duration<double>(*took).count();
    if (measured && seconds > 0) result_.limit_gib_s[i].push_back(payload / seconds);
  }
}

Result<std::vector<SlabChunk>> Runner::limit_destination() {
  // The view of the read is gone: what is allocated now are the warm slabs that it had.
  const std::uint64_t most = SlabPoolOptions().slab_bytes;
  const std::vector<std::uint64_t> per_block = block_bytes_by_node(options_.shape);
  std::vector<SlabChunk> chunks;
  for (std::size_t node = 0; node < per_block.size(); ++node) {
    for (std::uint64_t left = per_block[node] * options_.shape.blocks; left != 0;) {
      auto chunk =
          parts_.node.memory().allocate(std::min(left, most), static_cast<std::int32_t>(node));
      if (!chunk.ok()) return std::move(chunk).error();
      left -= chunk->bytes().size();
      chunks.push_back(std::move(*chunk));
    }
  }
  return chunks;
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
