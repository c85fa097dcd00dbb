#include "rpc/block_wait.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "engine/exec/event.h"

namespace corail {

Task<Result<void>> wait_for_blocks(asio::any_io_executor home, Clock& clock, BlockStore& store,
                                   SessionId session, const QueryBlocks& query, InboundCall& call) {
  Event changed(home);
  bool over = false;
  const auto timer = clock.make_timer(home);
  timer->wait_until(clock.now() + std::min(query.wait, kMaxQueryWait), [&over, &changed](bool) {
    over = true;
    changed.notify();
  });
  call.on_cancel([&changed] { changed.notify(); });
  Result<void> result = ok_result();
  while (!over && !call.cancelled()) {
    std::function<void()> complete = [&changed] { changed.notify(); };
    const auto watch = store.watch(session, query.name_space, query.hashes, std::move(complete));
    if (!watch) result = watch.error();
    if (!watch || (*watch)->missing() == 0) break;
    co_await changed.wait();
  }
  call.on_cancel(nullptr);
  co_return result;
}

}  // namespace corail
