#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/disk/disk_directory.h"
#include "engine/disk/disk_io.h"
#include "engine/disk/disk_threads.h"
#include "engine/disk/staging_pool.h"

namespace corail {

struct DiskAccessOptions {
  std::size_t threads = 4;          // that block in what the kernel offers as blocking calls only
  unsigned ring_depth = 64;         // requests of io_uring in flight
  std::size_t staging_buffers = 8;  // of kStagingBufferBytes each
  bool io_uring = true;             // false: threads for everything
};

/// How a node reaches the directories of this machine: io_uring where the kernel has it, threads
/// where not, and the memory that both stage in. Owned by the node; outlives its directories.
class DiskAccess {
 public:
  /// `executor` is that of the stores that use it. That the kernel refuses io_uring is no failure:
  /// describe() says so, and so does the log. Fails with kOutOfMemory.
  static Result<std::unique_ptr<DiskAccess>> create(asio::any_io_executor executor,
                                                    const DiskAccessOptions& options);

  /// An existing directory, for this store only; as LocalDirectory::open_existing(). Blocks for a
  /// moment.
  Result<std::unique_ptr<DiskDirectory>> open(const std::string& path);

  /// "io_uring", or "4 threads" and why, for people.
  const std::string& describe() const noexcept { return description_; }

 private:
  DiskAccess(std::size_t threads, std::unique_ptr<StagingPool> staging)
      : threads_(threads), staging_(std::move(staging)) {}

  DiskThreads threads_;
  const std::unique_ptr<StagingPool> staging_;
  std::unique_ptr<DiskIo> ring_;  // null: the threads do it
  std::string description_;
};

}  // namespace corail
