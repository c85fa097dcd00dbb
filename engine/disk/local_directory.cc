#include "engine/disk/local_directory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace corail {
namespace {

constexpr mode_t kFileMode = 0640;

/// 0, or the errno of a call that returned this.
int number_of(int result) { return result == 0 ? 0 : errno; }

Result<void> result_of(int number, std::string_view call, const std::string& path) {
  if (number == 0) return ok_result();
  return disk_error(number, call, path);
}

/// Whether the file system of the directory lets files be opened with O_DIRECT, and takes our
/// blocks.
bool knows_direct(int directory) {
  const Descriptor probe(
      ::openat(directory, ".", O_TMPFILE | O_WRONLY | O_DIRECT | O_CLOEXEC, 0600));
  if (!probe) return false;
  // Some want larger blocks than others; those go through the page cache.
  struct statx facts {};
  const bool told = ::statx(probe.fd(), "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 &&
                    (facts.stx_mask & STATX_DIOALIGN) != 0;
  const auto fits = [](std::uint32_t wanted) {
    return wanted > 0 && LocalFile::kBlock % wanted == 0;
  };
  return !told || (fits(facts.stx_dio_offset_align) && fits(facts.stx_dio_mem_align));
}

}  // namespace

Result<std::unique_ptr<LocalDirectory>> LocalDirectory::open_existing(const std::string& path,
                                                                      DiskThreads& threads,
                                                                      DiskIo& io,
                                                                      StagingPool& staging) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return disk_error(errno, "open", path);
  if (::flock(directory.fd(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return disk_error(errno, "flock", path);
    return Error(Errc::kBusy,
                 fmt::format("{} is used by another store; give each its own directories", path));
  }
  const bool direct = knows_direct(directory.fd());
  return std::unique_ptr<LocalDirectory>(
      new LocalDirectory(path, std::move(directory), direct, threads, io, staging));
}

LocalDirectory::LocalDirectory(std::string path, Descriptor directory, bool direct,
                               DiskThreads& threads, DiskIo& io, StagingPool& staging)
    : path_(std::move(path)),
      directory_(std::move(directory)),
      direct_(direct),
      threads_(threads),
      io_(io),
      staging_(staging) {}

LocalDirectory::Opened LocalDirectory::open_now(const std::string& name, int flags) const {
  Opened opened;
  const int common = flags | O_CLOEXEC | O_NOFOLLOW;
  opened.plain = Descriptor(::openat(directory_.fd(), name.c_str(), common, kFileMode));
  if (!opened.plain) {
    opened.error = errno;
  } else if (direct_) {
    // Without it everything goes through the page cache, which is slower and nothing else.
    const int again = (common & ~(O_CREAT | O_TRUNC | O_EXCL)) | O_DIRECT;
    opened.direct = Descriptor(::openat(directory_.fd(), name.c_str(), again));
  }
  return opened;
}

Task<Result<std::shared_ptr<DiskFile>>> LocalDirectory::open_with(std::string name, int flags) {
  if (threads_.full()) co_return disk_error(EBUSY, "open", path_of(name));
  const auto open = [this, &name, flags] { return open_now(name, flags); };
  Opened opened = co_await threads_.call(open);
  if (opened.error != 0) co_return disk_error(opened.error, "open", path_of(name));
  std::shared_ptr<DiskFile> file = std::make_shared<LocalFile>(
      io_, staging_, path_of(name), std::move(opened.plain), std::move(opened.direct));
  co_return file;
}

Task<Result<std::shared_ptr<DiskFile>>> LocalDirectory::create(std::string name) {
  return open_with(std::move(name), O_RDWR | O_CREAT | O_TRUNC);
}

Task<Result<std::shared_ptr<DiskFile>>> LocalDirectory::create_new(std::string name) {
  return open_with(std::move(name), O_RDWR | O_CREAT | O_EXCL);
}

Task<Result<std::shared_ptr<DiskFile>>> LocalDirectory::open(std::string name) {
  return open_with(std::move(name), O_RDONLY);
}

Task<Result<void>> LocalDirectory::rename(std::string from, std::string to) {
  if (threads_.full()) co_return disk_error(EBUSY, "rename", path_of(from));
  const int fd = directory_.fd();
  const auto rename = [fd, &from, &to] {
    return number_of(::renameat(fd, from.c_str(), fd, to.c_str()));
  };
  const int number = co_await threads_.call(rename);
  co_return result_of(number, "rename", path_of(from));
}

Task<Result<void>> LocalDirectory::remove(std::string name) {
  if (threads_.full()) co_return disk_error(EBUSY, "unlink", path_of(name));
  const int fd = directory_.fd();
  const auto unlink = [fd, &name] { return number_of(::unlinkat(fd, name.c_str(), 0)); };
  const int number = co_await threads_.call(unlink);
  co_return result_of(number, "unlink", path_of(name));
}

Task<Result<void>> LocalDirectory::sync() {
  if (threads_.full()) co_return disk_error(EBUSY, "fsync", path_);
  const int fd = directory_.fd();
  const auto sync = [fd] { return number_of(::fsync(fd)); };
  const int number = co_await threads_.call(sync);
  co_return result_of(number, "fsync", path_);
}

Task<Result<std::vector<DirectoryEntry>>> LocalDirectory::list() {
  if (threads_.full()) co_return disk_error(EBUSY, "readdir", path_);
  const auto list = [this] { return list_now(); };
  auto entries = co_await threads_.call(list);
  co_return entries;
}

Result<std::vector<DirectoryEntry>> LocalDirectory::list_now() const {
  namespace fs = std::filesystem;
  std::vector<DirectoryEntry> entries;
  std::error_code error;
  fs::directory_iterator at(path_, error);
  while (!error && at != fs::directory_iterator()) {
    const bool regular = at->symlink_status(error).type() == fs::file_type::regular;
    if (!error && regular)
      entries.push_back({at->path().filename().string(), at->file_size(error)});
    if (!error) at.increment(error);
  }
  if (error) return disk_error(error.value(), "readdir", path_);
  return entries;
}

std::string LocalDirectory::describe() const {
  return fmt::format("{}: by {}, {} the page cache", path_, io_.describe(),
                     direct_ ? "past" : "through");
}

}  // namespace corail
