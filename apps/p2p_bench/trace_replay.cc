#include "apps/p2p_bench/trace_replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "apps/p2p_bench/block_saver.h"
#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/run_result.h"
#include "apps/p2p_bench/verify.h"
#include "engine/base/random.h"

namespace corail::bench {
namespace {

/// What a read is taken to last before one has ended.
constexpr Duration kFirstGuess = std::chrono::microseconds(500);

double in_ms(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

}  // namespace

TraceReplay::TraceReplay(TraceParts parts)
    : parts_(std::move(parts)), options_(parts_.options), usual_(kFirstGuess) {}

Result<void> TraceReplay::run(TraceResult& result) {
  auto made = make_layout(options_.shape);
  if (!made.ok()) return std::move(made).error();
  stored_ = call_on(parts_.holder.executor(), [&] { return parts_.holder.blocks().intern(*made); });
  layout_ = std::make_shared<const Layout>(std::move(*made));
  result_.trace_requests = parts_.requests.size();
  begin_ = parts_.clock.now();
  const auto subscription = parts_.cancel.subscribe([this] { end(); });
  std::vector<Result<void>> outcomes(options_.concurrency);
  std::vector<std::thread> workers;
  for (Result<void>& outcome : outcomes) {
    workers.emplace_back([this, &outcome] {
      outcome = work();
      if (!outcome.ok()) end();
    });
  }
  for (std::thread& worker : workers) worker.join();
  result_.seconds = std::chrono::duration<double>(parts_.clock.now() - begin_).count();
  result_.interrupted = parts_.cancel.cancelled();
  const StoreStats stats =
      call_on(parts_.holder.executor(), [&] { return parts_.holder.blocks().stats(); });
  result_.saved_blocks = stats.saved_blocks;
  result_.evicted_blocks = stats.evicted_blocks;
  result = std::move(result_);
  for (Result<void>& outcome : outcomes) {
    if (!outcome.ok()) return std::move(outcome);
  }
  return ok_result();
}

Result<void> TraceReplay::work() {
  while (!over()) {
    const std::size_t index = next_++;
    if (index >= parts_.requests.size()) break;
    if (!wait_for_turn(parts_.requests[index])) break;
    auto replayed = replay(index);
    if (!replayed.ok()) return replayed;
  }
  return ok_result();
}

bool TraceReplay::wait_for_turn(const TraceRequest& request) {
  if (options_.speed <= 0) return true;
  const TimePoint when =
      begin_ + std::chrono::duration_cast<Duration>(
                   std::chrono::duration<double, std::nano>(request.at) / options_.speed);
  std::unique_lock lock(mutex_);
  return !end_.wait_until(lock, when, [this] { return over(); });
}

bool TraceReplay::over() const { return ended_ || parts_.cancel.cancelled(); }

void TraceReplay::end() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
}

Result<void> TraceReplay::replay(std::size_t index) {
  const TraceRequest& request = parts_.requests[index];
  if (request.blocks.empty()) return ok_result();
  RoundRequest round;
  round.node = &parts_.requester;
  round.peer = &parts_.peer;
  round.clock = &parts_.clock;
  round.layout = layout_;
  round.keys = {std::make_shared<const BlockKeys>(make_keys(options_.shape, 0, request.blocks))};
  round.fetch.integrity = options_.integrity;
  round.fetch.encoding = options_.encodings.front();
  round.fetch.cancel = parts_.cancel;
  round.fetch.retry_on_survivors = options_.retry_on_survivors;
  round.cancel_after = abort_after(index);
  ReadRound read = run_round(round);
  auto accounted = account(request, std::move(read.reads.front()));
  if (!accounted.ok()) return accounted;
  return save(request);
}

std::optional<Duration> TraceReplay::abort_after(std::size_t index) {
  // By the request and not by the thread, so that a seed aborts the same requests.
  SeededRandom random(mix64(options_.shape.seed) + index);
  const auto uniform = [&random] { return static_cast<double>(random.next() >> 11) * 0x1p-53; };
  if (uniform() >= options_.abort_rate) return std::nullopt;
  const std::lock_guard lock(mutex_);
  // Somewhere within what a read usually takes.
  return std::chrono::duration_cast<Duration>(usual_ * uniform());
}

Result<void> TraceReplay::account(const TraceRequest& request, ReadOutcome outcome) {
  ContentCheck check;
  if (outcome.view.ok() && options_.verify) {
    check = check_content(*outcome.view, options_.shape, 0, request.blocks);
  }
  const std::lock_guard lock(mutex_);
  ++result_.requests;
  result_.asked_blocks += request.blocks.size();
  if (outcome.cancel_asked) ++result_.aborts;
  if (!outcome.view.ok()) return account_failure(outcome);
  const BlockView& view = *outcome.view;
  const ReadReport& report = view.report();
  ++result_.committed;
  result_.hit_blocks += view.blocks();
  result_.bytes += view.bytes();
  result_.over_read += report.read_bytes - report.needed_bytes;
  result_.wrong_bytes += check.wrong_bytes;
  result_.read_ms.push_back(in_ms(report.stages.total()));
  usual_ += (report.stages.total() - usual_) / 16;
  return ok_result();
}

Result<void> TraceReplay::account_failure(const ReadOutcome& outcome) {
  const Error& error = outcome.view.error();
  if (error.code() == Errc::kNotFound) {
    ++result_.misses;
    return ok_result();
  }
  if (error.code() == Errc::kCancelled && (outcome.cancel_asked || parts_.cancel.cancelled())) {
    ++result_.cancelled;
    if (outcome.cancel_asked) {
      result_.cancel_ms.push_back(in_ms(outcome.ended - *outcome.cancel_asked));
    }
    return ok_result();
  }
  ++result_.failed;
  if (result_.failures.size() < kMaxFailures) result_.failures.push_back(error.to_string());
  return error.error_class() == ErrorClass::kTransport ? Result<void>(error) : ok_result();
}

Result<void> TraceReplay::save(const TraceRequest& request) {
  auto saved =
      save_blocks(parts_.holder, BlocksToSave{options_.shape, stored_, 0, request.blocks, 0});
  if (saved.ok()) return saved;
  const Errc code = saved.error().code();
  if (code != Errc::kOutOfMemory && code != Errc::kTooLarge) return saved;
  const std::lock_guard lock(mutex_);
  ++result_.refused_saves;
  return ok_result();
}

}  // namespace corail::bench
