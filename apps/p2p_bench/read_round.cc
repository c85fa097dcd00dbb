#include "apps/p2p_bench/read_round.h"

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <future>
#include <utility>

namespace corail::bench {
namespace {

Task<ReadOutcome> timed_fetch(Peer* peer, Clock* clock, std::shared_ptr<const Layout> layout,
                              std::shared_ptr<const BlockKeys> keys, FetchOptions options) {
  ReadOutcome outcome;
  outcome.view =
      co_await peer->fetch_blocks(std::move(layout), std::move(keys), std::move(options));
  outcome.ended = clock->now();
  co_return outcome;
}

Task<ReadOutcome> timed_ranges(Peer* peer, Clock* clock, std::shared_ptr<const Layout> layout,
                               std::shared_ptr<const BlockKeys> keys, std::uint32_t width,
                               FetchOptions options) {
  ReadOutcome outcome;
  auto reads = co_await read_by_ranges(peer, clock, std::move(layout), std::move(keys), width,
                                       std::move(options));
  outcome.ended = clock->now();
  if (!reads) {
    outcome.view = std::move(reads).error();
    co_return outcome;
  }
  BlockView all;
  all.report() = std::move(reads->report);
  outcome.view = std::move(all);
  outcome.ranges = std::move(reads->ranges);
  outcome.first_range = reads->first;
  co_return outcome;
}

Task<ReadOutcome> timed_object(Peer* peer, Clock* clock, std::string key,
                               ReadObjectOptions options) {
  ReadOutcome outcome;
  const TimePoint begin = clock->now();
  auto found = co_await peer->lookup_object(std::move(key));
  const TimePoint looked_up = clock->now();
  if (!found.ok()) {
    outcome.view = std::move(found).error();
    outcome.ended = looked_up;
    co_return outcome;
  }
  auto object = co_await peer->read_by_descriptor(std::move(*found), std::move(options));
  outcome.ended = clock->now();
  if (!object.ok()) {
    outcome.view = std::move(object).error();
    co_return outcome;
  }
  BlockView all;
  all.report() = object->report();
  all.report().stages.query += looked_up - begin;
  outcome.view = std::move(all);
  outcome.object = std::move(*object);
  co_return outcome;
}

/// One read under way, with a token of its own.
class Running {
 public:
  Running(const RoundRequest& request, const std::string& object)
      : run_cancelled_(
            request.object.cancel.subscribe([token = token_]() mutable { token.cancel(); })) {
    ReadObjectOptions options = request.object;
    options.cancel = token_;
    outcome_ = asio::co_spawn(request.node->executor(),
                              timed_object(request.peer, request.clock, object, std::move(options)),
                              asio::use_future);
  }

  Running(const RoundRequest& request, const std::shared_ptr<const BlockKeys>& keys)
      : run_cancelled_(
            request.fetch.cancel.subscribe([token = token_]() mutable { token.cancel(); })) {
    FetchOptions options = request.fetch;
    options.cancel = token_;
    outcome_ = asio::co_spawn(
        request.node->executor(),
        request.lane_range == 0
            ? timed_fetch(request.peer, request.clock, request.layout, keys, std::move(options))
            : timed_ranges(request.peer, request.clock, request.layout, keys, request.lane_range,
                           std::move(options)),
        asio::use_future);
  }

  /// Cancels at `when`, unless it has ended by then.
  void cancel_at(TimePoint when, const Clock& clock) {
    const Duration left = std::max(when - clock.now(), Duration::zero());
    if (outcome_.wait_for(left) == std::future_status::ready) return;
    cancel_asked_ = clock.now();
    token_.cancel();
  }

  ReadOutcome take() {
    ReadOutcome outcome = outcome_.get();
    outcome.cancel_asked = cancel_asked_;
    return outcome;
  }

 private:
  CancelToken token_;
  const CancelToken::Subscription run_cancelled_;
  std::future<ReadOutcome> outcome_;
  std::optional<TimePoint> cancel_asked_;
};

}  // namespace

ReadRound run_round(const RoundRequest& request) {
  std::vector<std::unique_ptr<Running>> reads;
  reads.reserve(request.keys.size() + request.objects.size());
  const TimePoint begin = request.clock->now();
  for (const auto& keys : request.keys) reads.push_back(std::make_unique<Running>(request, keys));
  for (const auto& key : request.objects) reads.push_back(std::make_unique<Running>(request, key));
  if (request.cancel_after) {
    for (const auto& read : reads) read->cancel_at(begin + *request.cancel_after, *request.clock);
  }
  ReadRound round;
  for (const auto& read : reads) {
    ReadOutcome outcome = read->take();
    round.took = std::max(round.took, outcome.ended - begin);
    round.reads.push_back(std::move(outcome));
  }
  return round;
}

}  // namespace corail::bench
