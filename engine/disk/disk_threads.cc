#include "engine/disk/disk_threads.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace corail {
namespace {

template <typename F>
std::int64_t repeated(F call) {
  for (;;) {
    const auto result = call();
    if (result >= 0) return result;
    if (errno != EINTR) return -errno;
  }
}

}  // namespace

Task<std::int64_t> DiskThreads::call_io(std::function<std::int64_t()> blocking) {
  if (full()) co_return -EBUSY;
  const std::int64_t result = co_await call(std::move(blocking));
  co_return result;
}

Task<std::int64_t> DiskThreads::read(int fd, std::uint64_t offset, std::span<std::byte> into) {
  return call_io([fd, offset, into] {
    return repeated(
        [&] { return ::pread(fd, into.data(), into.size(), static_cast<off_t>(offset)); });
  });
}

Task<std::int64_t> DiskThreads::write(int fd, std::uint64_t offset,
                                      std::span<const std::byte> bytes) {
  return call_io([fd, offset, bytes] {
    return repeated(
        [&] { return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
  });
}

Task<std::int64_t> DiskThreads::sync(int fd) {
  return call_io([fd] { return repeated([fd] { return ::fdatasync(fd); }); });
}

std::string DiskThreads::describe() const { return fmt::format("{} threads", threads_); }

}  // namespace corail
