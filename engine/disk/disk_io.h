#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/exec/task.h"

namespace corail {

/// How bytes get to and from files without anybody's thread waiting for a disk. Called and awaited
/// on the executor of whoever owns it. `fd` and the memory must live until a call returns, and a
/// call that has begun must be awaited to its end: the kernel uses both.
class DiskIo {
 public:
  virtual ~DiskIo() = default;

  /// Like pread(), pwrite() and fdatasync(), but for the result: bytes, 0 at the end of the file,
  /// or the negative errno. Interrupted calls are repeated.
  virtual Task<std::int64_t> read(int fd, std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual Task<std::int64_t> write(int fd, std::uint64_t offset,
                                   std::span<const std::byte> bytes) = 0;
  virtual Task<std::int64_t> sync(int fd) = 0;

  /// What it is, for people.
  virtual std::string describe() const = 0;
};

}  // namespace corail
