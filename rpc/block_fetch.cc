#include "rpc/block_fetch.h"

#include <cstdint>
#include <utility>

#include "engine/exec/when_all.h"
#include "rpc/prefix_read.h"

namespace corail {

BlockFetch::BlockFetch(FetchContext context, ReadId read, std::shared_ptr<const Layout> layout,
                       std::shared_ptr<const BlockKeys> keys, FetchOptions options)
    : context_(context),
      options_(std::move(options)),
      callers_deadline_(time_after(context_.clock.now(), options_.deadline)),
      lease_(context_, read, std::move(layout), std::move(keys)),
      admission_(context_.budgets, context_.rails) {}

Task<Result<BlockView>> BlockFetch::run() {
  auto checked = lease_.check_arguments(options_);
  if (!checked) co_return std::move(checked).error();
  auto entered = co_await enter();
  // Nothing was asked for yet, so there is nothing to give back.
  if (!entered) co_return std::move(entered).error();
  // The sizes of what is allocated come from the holder: running out of memory is an outcome.
  auto view = co_await without_exceptions(query_and_read());
  // Also after a query that failed: its answer may still be on the way, and the lease with it.
  if (!view && !given_back_) co_await lease_.release();
  co_return view;
}

Task<Result<void>> BlockFetch::enter() {
  const TimePoint begin = context_.clock.now();
  const std::uint64_t most = lease_.keys().hashes.size() * lease_.layout()->block_bytes();
  auto entered =
      co_await admission_.enter(most, options_.when_full, callers_deadline_, options_.cancel);
  report_.stages.admit = context_.clock.now() - begin;
  co_return entered;
}

Task<Result<BlockView>> BlockFetch::query_and_read() {
  auto leased = co_await lease_.query(options_, callers_deadline_, report_);
  if (!leased) co_return std::move(leased).error();
  admission_.shrink(lease_.answer().block_count * lease_.layout()->block_bytes());
  lease_.keep();
  PrefixRead read(context_, lease_, options_, callers_deadline_);
  auto view = co_await without_exceptions(read.run(std::move(report_)));
  co_await lease_.stop_keeping();
  given_back_ = read.lease_given_back();
  co_return view;
}

}  // namespace corail
