#include "apps/p2p_bench/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace corail::bench {

void open_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free descriptor is this one, because those below it are open by now.
    if (::open("/dev/null", O_RDWR) < 0) return;
  }
}

bool inherit_as(int from, int to) noexcept {
  if (from != to) return ::dup2(from, to) == to;  // the copy does not close on exec
  const int flags = ::fcntl(from, F_GETFD);
  return flags >= 0 && ::fcntl(from, F_SETFD, flags & ~FD_CLOEXEC) == 0;
}

}  // namespace corail::bench
