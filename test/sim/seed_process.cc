#include "test/sim/seed_process.h"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>

namespace corail::sim {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

[[noreturn]] void run_child(int to_parent, MakeSeed make, std::uint64_t number, Plant plant,
                            bool trace) {
  // On the heap: what a broken seed consists of was not closed and cannot be destroyed.
  auto seed = make(number, plant, trace);
  const SeedResult result = seed->run();
  const std::string text = encode(result);
  std::fflush(stdout);
  const bool told =
      ::write(to_parent, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (result.violation) ::_exit(told ? EXIT_SUCCESS : EXIT_FAILURE);
  seed.reset();
  // The orderly way, on which the sanitizers look for leaks.
  std::exit(told ? EXIT_SUCCESS : EXIT_FAILURE);
}

std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

SeedResult run_in_child(MakeSeed make, std::uint64_t seed, Plant plant, bool trace) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) fail("no pipe to a seed's process");
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child < 0) fail("no process for a seed");
  if (child == 0) run_child(pipe[1], make, seed, plant, trace);
  ::close(pipe[1]);
  auto result = decode(read_all(pipe[0]));
  ::close(pipe[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const bool orderly = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
  if (orderly && result) return std::move(*result);
  SeedResult crashed = result.value_or(SeedResult());
  Violation violation;
  violation.what = WIFSIGNALED(status)
                       ? fmt::format("its process was ended by signal {}", WTERMSIG(status))
                       : fmt::format("its process ended with status {}", WEXITSTATUS(status));
  if (!crashed.violation) crashed.violation = std::move(violation);
  return crashed;
}

}  // namespace corail::sim
