#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/exec/task.h"

namespace corail {

/// A connected, reliable, ordered stream of bytes: TCP, or one in memory for tests.
///
/// All members on the stream's executor. At most one read and one write at a time. Destroy it only
/// when no operation is pending: close(), then let them end. close() is the way to stop an
/// operation.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Reads at least one byte and at most the buffer's size; 0 means that the peer has ended the
  /// stream (or that the buffer is empty). Fails with kConnectionLost, or kClosed after close().
  virtual Task<Result<std::size_t>> read_some(std::span<std::byte> buffer) = 0;

  /// Writes all bytes of all buffers, in order. The bytes must stay until this returns. Fails with
  /// kConnectionLost, or kClosed after close(); how much the peer got is then unknown.
  virtual Task<Result<void>> write_all(std::vector<std::span<const std::byte>> buffers) = 0;

  /// Ends the stream and the pending operations (kClosed). Idempotent.
  virtual void close() noexcept = 0;

  /// The other end, for messages: "10.0.0.2:7700".
  virtual const std::string& peer_name() const noexcept = 0;
};

/// Accepts streams. All members on its executor, which the accepted streams share. Destroy it only
/// when no accept() is pending.
class StreamListener {
 public:
  virtual ~StreamListener() = default;

  /// Fails with kClosed after close(), and with kBusy when the process has no descriptor or memory
  /// left: wait a moment and call again. One at a time.
  virtual Task<Result<std::unique_ptr<ByteStream>>> accept() = 0;

  /// Ends a pending accept() with kClosed. Idempotent.
  virtual void close() noexcept = 0;

  /// "ip:port" as really bound.
  virtual std::string local_address() const = 0;
};

/// Fills the whole buffer. A stream that ends before fails with kConnectionLost.
Task<Result<void>> read_exact(ByteStream& stream, std::span<std::byte> buffer);

}  // namespace corail
