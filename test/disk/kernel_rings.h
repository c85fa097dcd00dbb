#pragma once

#include <linux/io_uring.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace corail::test {

/// Whether the kernel lets this process use io_uring: where it does, falling back to threads is a
/// failure. Asked past everything that is to be tested.
inline bool kernel_has_rings() {
  io_uring_params params{};
  const long ring = ::syscall(SYS_io_uring_setup, 2, &params);
  if (ring < 0) return false;
  ::close(static_cast<int>(ring));
  return true;
}

}  // namespace corail::test
