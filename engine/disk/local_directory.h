#pragma once

#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/disk/disk_directory.h"
#include "engine/disk/disk_io.h"
#include "engine/disk/disk_threads.h"
#include "engine/disk/local_file.h"
#include "engine/disk/staging_pool.h"

namespace corail {

/// A directory of this machine. Names change on the threads, because the kernel offers no other way
/// that is worth having; bytes go by `io`.
class LocalDirectory final : public DiskDirectory {
 public:
  /// Opens an existing directory and locks it against other processes, which blocks for a moment.
  /// All arguments must outlive it. kNotFound, kBusy (another one uses it), kStoreFailed.
  static Result<std::unique_ptr<LocalDirectory>> open_existing(const std::string& path,
                                                               DiskThreads& threads, DiskIo& io,
                                                               StagingPool& staging);

  Task<Result<std::shared_ptr<DiskFile>>> create(std::string name) override;
  Task<Result<std::shared_ptr<DiskFile>>> create_new(std::string name) override;
  Task<Result<std::shared_ptr<DiskFile>>> open(std::string name) override;
  Task<Result<void>> rename(std::string from, std::string to) override;
  Task<Result<void>> remove(std::string name) override;
  Task<Result<void>> sync() override;
  Task<Result<std::vector<DirectoryEntry>>> list() override;
  std::string path() const override { return path_; }

  /// "PATH: by WHAT, past the page cache" or "through", for people.
  std::string describe() const;

 private:
  struct Opened {
    int error = 0;  // errno of the first call that failed
    Descriptor plain;
    Descriptor direct;
  };

  LocalDirectory(std::string path, Descriptor directory, bool direct, DiskThreads& threads,
                 DiskIo& io, StagingPool& staging);
  Opened open_now(const std::string& name, int flags) const;
  Task<Result<std::shared_ptr<DiskFile>>> open_with(std::string name, int flags);
  Result<std::vector<DirectoryEntry>> list_now() const;
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }

  const std::string path_;
  const Descriptor directory_;
  const bool direct_;  // whether the file system knows O_DIRECT
  DiskThreads& threads_;
  DiskIo& io_;
  StagingPool& staging_;
};

}  // namespace corail
