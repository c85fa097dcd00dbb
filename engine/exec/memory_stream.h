#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "engine/base/clock.h"
#include "engine/exec/byte_stream.h"

namespace corail {

struct MemoryStreamOptions {
  /// Bytes that may be written and unread in each direction; more waits, as with a socket's buffer.
  std::size_t buffer_bytes = 64 * 1024;
  /// The most bytes that one read_some() returns; 0: no limit. Small values exercise reassembly.
  std::size_t max_read_bytes = 0;
  /// From a write to its bytes (or the end of the stream) being readable. More than 0 needs a
  /// clock, which must outlive the streams.
  Duration latency{0};
  Clock* clock = nullptr;
  std::string left_name = "memory:left";
  std::string right_name = "memory:right";
};

/// Two ends of one connection in memory. Deterministic: everything happens on one executor, in the
/// order of its queue.
struct MemoryStreamPair {
  std::unique_ptr<ByteStream> left;   // its peer_name() is the right one's name
  std::unique_ptr<ByteStream> right;  // and the other way round
  /// The fault: as if the cable had been cut and both ends had noticed. Bytes on the way are lost,
  /// pending and later operations of both ends fail with kConnectionLost. May be called any number
  /// of times, also when the streams are gone; on the executor's thread.
  std::function<void()> cut;
};

MemoryStreamPair make_stream_pair(asio::any_io_executor executor, MemoryStreamOptions options);

}  // namespace corail
