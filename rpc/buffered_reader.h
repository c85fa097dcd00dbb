#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/task.h"

namespace corail {

/// Reads a stream through one buffer, so that small frames cost one system call at most and need no
/// allocation. Used by one coroutine at a time; the stream outlives it.
class BufferedReader {
 public:
  static constexpr std::size_t kCapacity = 64 * 1024;

  explicit BufferedReader(ByteStream& stream)
      : stream_(stream), buffer_(std::make_unique_for_overwrite<std::byte[]>(kCapacity)) {}

  /// What has been read and not consumed; valid until the next fill().
  std::span<const std::byte> buffered() const noexcept {
    return {buffer_.get() + begin_, end_ - begin_};
  }
  /// Forgets the first `bytes` of buffered().
  void consume(std::size_t bytes) noexcept;

  /// Reads more behind what is buffered, which must be less than kCapacity. The result is that of
  /// ByteStream::read_some: 0 is the end of the stream.
  Task<Result<std::size_t>> fill();

  /// Puts at least one byte into `to`, from the buffer if something is in it, else straight from
  /// the stream. `to` is not empty.
  Task<Result<std::size_t>> read_into(std::span<std::byte> to);

 private:
  ByteStream& stream_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace corail
