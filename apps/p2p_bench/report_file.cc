#include "apps/p2p_bench/report_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace corail::bench {
namespace {

constexpr mode_t kFileMode = 0666;  // less the umask

Error unwritable(const std::string& path, int error) {
  return {Errc::kInvalidArgument, "the report of --json cannot be written to " + path + ": " +
                                      std::strerror(error) + "; check the path and the free space"};
}

}  // namespace

Result<ReportFile> ReportFile::open(const std::string& path) {
  if (path.empty()) return ReportFile();
  if (path == "-") {
    Descriptor output(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!output) return unwritable("standard output", errno);
    return ReportFile(path, std::move(output), false);
  }
  constexpr int kWrite = O_WRONLY | O_CLOEXEC;
  Descriptor created(::open(path.c_str(), kWrite | O_CREAT | O_EXCL, kFileMode));
  if (created) return ReportFile(path, std::move(created), true);
  if (errno != EEXIST) return unwritable(path, errno);
  // With O_CREAT, because a link may point to a file that is still to be made.
  Descriptor existing(::open(path.c_str(), kWrite | O_CREAT, kFileMode));
  if (!existing) return unwritable(path, errno);
  return ReportFile(path, std::move(existing), false);
}

void ReportFile::discard() const noexcept {
  if (file_ && created_ && !written_) ::unlink(path_.c_str());
}

Result<void> ReportFile::write(const std::string& text) {
  written_ = true;
  // A pipe or a terminal has no length; standard output may be a file that others append to.
  if (path_ != "-") {
    const bool cut = ::ftruncate(file_.get(), 0) == 0;
    if (!cut && errno != EINVAL) return unwritable(path_, errno);
  }
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t put = ::write(file_.get(), rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return unwritable(path_, put < 0 ? errno : EIO);
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  return ok_result();
}

}  // namespace corail::bench
