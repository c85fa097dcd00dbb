#include "engine/disk/disk_access.h"

#include <fmt/core.h>

#include <utility>

#include "engine/base/log.h"
#include "engine/disk/local_directory.h"
#include "engine/disk/uring_io.h"

namespace corail {

Result<std::unique_ptr<DiskAccess>> DiskAccess::create(asio::any_io_executor executor,
                                                       const DiskAccessOptions& options) {
  auto staging = StagingPool::create(executor, options.staging_buffers);
  if (!staging) return std::move(staging).error();
  std::unique_ptr<DiskAccess> access(new DiskAccess(options.threads, std::move(*staging)));
  access->description_ = access->threads_.describe();
  if (!options.io_uring) return access;
  auto ring = UringIo::create(std::move(executor), options.ring_depth);
  if (ring) {
    access->ring_ = std::move(*ring);
    access->description_ = access->ring_->describe();
  } else {
    access->description_ += fmt::format(" ({})", ring.error().detail());
    log(LogLevel::kWarning, "disks are read and written by {}", access->description_);
  }
  return access;
}

Result<std::unique_ptr<DiskDirectory>> DiskAccess::open(const std::string& path) {
  DiskIo& io = ring_ ? *ring_ : static_cast<DiskIo&>(threads_);
  auto opened = LocalDirectory::open_existing(path, threads_, io, *staging_);
  if (!opened) return std::move(opened).error();
  return std::unique_ptr<DiskDirectory>(std::move(*opened));
}

}  // namespace corail
