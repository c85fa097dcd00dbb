#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/task.h"

namespace corail {

/// Connects to "127.0.0.1:7700", "[::1]:7700" or a name, each of whose addresses is tried in turn.
///
/// Called on `executor`; the stream belongs to it. The clock must live until this returns. Fails
/// with kInvalidArgument for a malformed address, kConnectFailed with what every address said,
/// kDeadline when `deadline` comes first. A name that is still being looked up then goes on being
/// looked up on Asio's resolver thread, and destroying the io_context waits for it.
Task<Result<std::unique_ptr<ByteStream>>> connect_tcp(asio::any_io_executor executor, Clock& clock,
                                                      std::string host_port, TimePoint deadline);

/// Listens on a numeric address; port 0 lets the system choose. Never blocks. Fails with
/// kInvalidArgument for anything else, kConnectFailed when the address cannot be bound.
/// SO_REUSEADDR is set, and TCP_NODELAY on every accepted stream.
Result<std::unique_ptr<StreamListener>> listen_tcp(asio::any_io_executor executor,
                                                   std::string host_port);

}  // namespace corail
