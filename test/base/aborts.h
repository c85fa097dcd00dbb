#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace corail::test {

/// Whether `f` ends the process with SIGABRT, tried in a child process. Only while the process has
/// one thread.
template <typename F>
bool aborts(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    f();
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return false;
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

}  // namespace corail::test
