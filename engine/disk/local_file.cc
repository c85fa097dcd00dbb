#include "engine/disk/local_file.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "engine/base/units.h"

namespace corail {
namespace {

constexpr std::uint64_t kBlock = LocalFile::kBlock;

bool aligned(const std::byte* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kBlock == 0;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Error disk_error(int number, std::string_view call, std::string_view path) {
  const std::string what =
      fmt::format("{} {}: {}", call, path, std::generic_category().message(number));
  if (number == ENOSPC || number == EDQUOT || number == EFBIG) {
    return Error(Errc::kStoreFull, what + "; make room on that file system");
  }
  if (number == EMFILE || number == ENFILE) {
    return Error(Errc::kQuotaExceeded,
                 what + "; raise the limit of open files (ulimit -n), or do less at a time");
  }
  if (number == EBUSY) {
    return Error(Errc::kBusy, what + "; more calls of disks wait than may, do less at a time");
  }
  if (number == EEXIST) return Error(Errc::kRefused, what);
  if (number == ENOENT) return Error(Errc::kNotFound, what);
  return Error(Errc::kStoreFailed, what + "; check the device and the kernel's log");
}

Task<Result<void>> LocalFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written = co_await write_some(offset, bytes);
    if (!written) co_return written.error();
    if (*written == 0) co_return disk_error(EIO, "pwrite", path_);
    offset += *written;
    bytes = bytes.subspan(*written);
  }
  co_return ok_result();
}

Task<Result<std::size_t>> LocalFile::write_some(std::uint64_t offset,
                                                std::span<const std::byte> bytes) {
  const bool whole_blocks = direct_ && offset % kBlock == 0 && bytes.size() >= kBlock;
  if (whole_blocks && !aligned(bytes.data())) {
    auto staged = co_await write_staged(offset, bytes);
    co_return staged;
  }
  // Through the page cache: what is no whole block, up to where one begins.
  std::size_t length = bytes.size();
  if (whole_blocks) {
    length -= length % kBlock;
  } else if (direct_) {
    length = std::min<std::uint64_t>(length, kBlock - offset % kBlock);
  }
  const int fd = whole_blocks ? direct_.fd() : plain_.fd();
  const std::int64_t done = co_await io_.write(fd, offset, bytes.first(length));
  if (done < 0) co_return disk_error(static_cast<int>(-done), "pwrite", path_);
  co_return static_cast<std::size_t>(done);
}

Task<Result<std::size_t>> LocalFile::write_staged(std::uint64_t offset,
                                                  std::span<const std::byte> bytes) {
  const auto buffer = co_await staging_.take();
  if (!buffer) co_return buffer.error();
  const std::size_t length =
      std::min<std::size_t>(bytes.size() - bytes.size() % kBlock, kStagingBufferBytes);
  std::memcpy(buffer->bytes().data(), bytes.data(), length);
  const std::int64_t done = co_await io_.write(direct_.fd(), offset, buffer->bytes().first(length));
  if (done < 0) co_return disk_error(static_cast<int>(-done), "pwrite", path_);
  co_return static_cast<std::size_t>(done);
}

Task<Result<void>> LocalFile::read(std::uint64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    const auto got = co_await read_some(offset, into);
    if (!got) co_return got.error();
    if (*got == 0) {
      co_return Error(Errc::kByteCountMismatch,
                      fmt::format("{} ends {} bytes early, at {}", path_, into.size(), offset));
    }
    offset += *got;
    into = into.subspan(*got);
  }
  co_return ok_result();
}

Task<Result<std::size_t>> LocalFile::read_some(std::uint64_t offset, std::span<std::byte> into) {
  const bool as_it_is = offset % kBlock == 0 && into.size() >= kBlock && aligned(into.data());
  if (direct_ && !as_it_is) {
    auto staged = co_await read_staged(offset, into);
    co_return staged;
  }
  const std::size_t length = direct_ ? into.size() - into.size() % kBlock : into.size();
  const int fd = direct_ ? direct_.fd() : plain_.fd();
  const std::int64_t done = co_await io_.read(fd, offset, into.first(length));
  if (done < 0) co_return disk_error(static_cast<int>(-done), "pread", path_);
  co_return static_cast<std::size_t>(done);
}

Task<Result<std::size_t>> LocalFile::read_staged(std::uint64_t offset, std::span<std::byte> into) {
  const auto buffer = co_await staging_.take();
  if (!buffer) co_return buffer.error();
  const std::uint64_t before = offset % kBlock;
  const std::uint64_t length =
      std::min(align_up(before + into.size(), kBlock), kStagingBufferBytes);
  const std::int64_t done =
      co_await io_.read(direct_.fd(), offset - before, buffer->bytes().first(length));
  if (done < 0) co_return disk_error(static_cast<int>(-done), "pread", path_);
  const auto got = static_cast<std::uint64_t>(done);
  if (got <= before) co_return std::size_t{0};
  const std::size_t useful = std::min<std::uint64_t>(got - before, into.size());
  std::memcpy(into.data(), buffer->bytes().data() + before, useful);
  co_return useful;
}

Task<Result<void>> LocalFile::sync() {
  const std::int64_t done = co_await io_.sync(plain_.fd());
  if (done < 0) co_return disk_error(static_cast<int>(-done), "fdatasync", path_);
  co_return ok_result();
}

}  // namespace corail
