#include "test/node/holder_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>

namespace corail::test {

HolderProcess::HolderProcess(const TwoNodes::Shape& shape, std::uint32_t rails) {
  std::array<int, 2> ends{};
  BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  std::array<std::string, 5> words = {CORAIL_PROGRAM_node_holder, std::to_string(shape.blocks),
                                      std::to_string(shape.slots),
                                      std::to_string(shape.segment_bytes), std::to_string(rails)};
  std::array<char*, 6> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int failed =
      ::posix_spawn(&process_, arguments[0], &actions, nullptr, arguments.data(), ::environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) process_ = -1;
  std::array<char, 64> part{};
  ssize_t got = 0;
  while ((got = ::read(ends[0], part.data(), part.size())) > 0) {
    address_.append(part.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  if (address_.empty()) kill();
  BOOST_REQUIRE_MESSAGE(!address_.empty(), "the holder's process did not start");
}

HolderProcess::~HolderProcess() { kill(); }

void HolderProcess::freeze() { ::kill(process_, SIGSTOP); }

void HolderProcess::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  process_ = -1;
}

}  // namespace corail::test
