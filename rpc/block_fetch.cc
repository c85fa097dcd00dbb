#include "rpc/block_fetch.h"

#include <utility>

#include "engine/exec/when_all.h"
#include "rpc/prefix_read.h"

namespace corail {

BlockFetch::BlockFetch(FetchContext context, ReadId read, std::shared_ptr<const Layout> layout,
                       std::shared_ptr<const BlockKeys> keys, FetchOptions options)
    : context_(context),
      options_(std::move(options)),
      callers_deadline_(time_after(context_.clock.now(), options_.deadline)),
      lease_(context_, read, std::move(layout), std::move(keys)) {}

Task<Result<BlockView>> BlockFetch::run() {
  auto checked = lease_.check_arguments(options_);
  if (!checked) co_return std::move(checked).error();
  // The sizes of what is allocated come from the holder: running out of memory is an outcome.
  auto view = co_await without_exceptions(query_and_read());
  // Also after a query that failed: its answer may still be on the way, and the lease with it.
  if (!view && !given_back_) co_await lease_.release();
  co_return view;
}

Task<Result<BlockView>> BlockFetch::query_and_read() {
  ReadReport report;
  auto leased = co_await lease_.query(options_, callers_deadline_, report);
  if (!leased) co_return std::move(leased).error();
  lease_.keep();
  PrefixRead read(context_, lease_, options_, callers_deadline_);
  auto view = co_await without_exceptions(read.run(std::move(report)));
  co_await lease_.stop_keeping();
  given_back_ = read.lease_given_back();
  co_return view;
}

}  // namespace corail
