#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "engine/disk/disk_directory.h"
#include "engine/disk/disk_io.h"
#include "engine/disk/staging_pool.h"

namespace corail {

/// A file descriptor, closed when this goes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();

  explicit operator bool() const noexcept { return fd_ >= 0; }
  int fd() const noexcept { return fd_; }

 private:
  int fd_ = -1;
};

/// The error of a call on a file that failed with this errno: kStoreFull, kNotFound, kRefused (it
/// is there already), kQuotaExceeded (of open files), kBusy, or kStoreFailed.
Error disk_error(int number, std::string_view call, std::string_view path);

/// A file of this machine. What is whole blocks goes past the page cache where the file system
/// allows it, staged where the memory is not aligned; the rest goes through it.
class LocalFile final : public DiskFile {
 public:
  /// What O_DIRECT wants offsets, lengths and addresses to be multiples of, in bytes.
  static constexpr std::uint64_t kBlock = 4096;

  /// `direct` is empty where there is no O_DIRECT. The io and the pool must outlive it.
  LocalFile(DiskIo& io, StagingPool& staging, std::string path, Descriptor plain, Descriptor direct)
      : io_(io),
        staging_(staging),
        path_(std::move(path)),
        plain_(std::move(plain)),
        direct_(std::move(direct)) {}

  Task<Result<void>> write(std::uint64_t offset, std::span<const std::byte> bytes) override;
  Task<Result<void>> read(std::uint64_t offset, std::span<std::byte> into) override;
  Task<Result<void>> sync() override;

 private:
  Task<Result<std::size_t>> write_some(std::uint64_t offset, std::span<const std::byte> bytes);
  Task<Result<std::size_t>> write_staged(std::uint64_t offset, std::span<const std::byte> bytes);
  Task<Result<std::size_t>> read_some(std::uint64_t offset, std::span<std::byte> into);
  Task<Result<std::size_t>> read_staged(std::uint64_t offset, std::span<std::byte> into);

  DiskIo& io_;
  StagingPool& staging_;
  const std::string path_;
  const Descriptor plain_;
  const Descriptor direct_;
};

}  // namespace corail
