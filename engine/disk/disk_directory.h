#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/exec/task.h"

namespace corail {

/// An open file. Offsets and lengths in bytes. Calls for different ranges may overlap in time.
/// Closed when it is destroyed, on whichever thread. Fails with kStoreFull, kStoreFailed and kBusy;
/// the sentence names the file, the system's call and its reason.
class DiskFile {
 public:
  virtual ~DiskFile() = default;

  /// All of `bytes`, which must live until this returns, or a failure with any part written.
  virtual Task<Result<void>> write(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
  /// All of `into`, which must live until this returns. Bytes beyond the end of the file are
  /// kByteCountMismatch.
  virtual Task<Result<void>> read(std::uint64_t offset, std::span<std::byte> into) = 0;
  /// What was written survives a crash, if the file itself does: see DiskDirectory::sync().
  virtual Task<Result<void>> sync() = 0;
};

struct DirectoryEntry {
  std::string name;
  std::uint64_t bytes = 0;
};

/// One directory of one device, which nobody else writes to: what a store does to a disk, and what
/// tests let go wrong. Names are those of files in it, without a slash. Used on the executor of
/// whoever awaits; must outlive its calls and files. Failures as DiskFile's, and kNotFound.
class DiskDirectory {
 public:
  virtual ~DiskDirectory() = default;

  /// A new file to write and to read, or an old one emptied.
  virtual Task<Result<std::shared_ptr<DiskFile>>> create(std::string name) = 0;
  /// A new file to write and to read. kRefused: there is one of that name, which stays as it is.
  virtual Task<Result<std::shared_ptr<DiskFile>>> create_new(std::string name) = 0;
  /// An existing one, to read.
  virtual Task<Result<std::shared_ptr<DiskFile>>> open(std::string name) = 0;
  /// In place of what had the new name, atomically.
  virtual Task<Result<void>> rename(std::string from, std::string to) = 0;
  virtual Task<Result<void>> remove(std::string name) = 0;
  /// What was created, renamed and removed survives a crash once this succeeded.
  virtual Task<Result<void>> sync() = 0;
  /// The regular files, in no order.
  virtual Task<Result<std::vector<DirectoryEntry>>> list() = 0;
  /// The directory's path, for people.
  virtual std::string path() const = 0;
};

/// Of one store: one for each of its devices, in their order.
using DiskDirectories = std::vector<std::unique_ptr<DiskDirectory>>;

}  // namespace corail
