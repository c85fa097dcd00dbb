#pragma once

#include <asio/any_io_executor.hpp>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/store/block_store.h"
#include "rpc/call_handler.h"
#include "rpc/messages.h"

namespace corail {

/// The holder's side of a query that waits: returns when every block that it asks for is stored,
/// when its time to wait is over, or when the caller has given up. Holds no lease and keeps no
/// block meanwhile: what was evicted again by then is waited for again. Fails with kBusy where the
/// session waits for as much as it may.
///
/// On the home executor. `query` refers to the call's body; store, clock and call outlive this. The
/// session ends its calls when it ends, so nobody is left waiting.
Task<Result<void>> wait_for_blocks(asio::any_io_executor home, Clock& clock, BlockStore& store,
                                   SessionId session, const QueryBlocks& query, InboundCall& call);

}  // namespace corail
