#include "apps/p2p_bench/holder_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "apps/p2p_bench/standard_streams.h"

namespace corail::bench {
namespace {

using Json = nlohmann::json;

/// Filling is bound by memory; a holder that takes so long is stuck.
constexpr int kReadyPatienceMs = 10 * 60 * 1000;
constexpr int kAnswerPatienceMs = 10 * 1000;
constexpr int kExitPatienceMs = 5 * 1000;
constexpr std::size_t kMaxLineBytes = 4096;

Error cannot_start(const char* what) {
  return {Errc::kInvalidArgument, std::string("the holder process cannot be started, ") + what +
                                      ": " + std::strerror(errno)};
}

/// The environment without CORAIL_*: the child's flags say everything, and what is meant for the
/// requester would be a usage error there.
std::vector<char*> inherited_environment() {
  std::vector<char*> kept;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("CORAIL_")) kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

/// In the child, between fork and exec: async-signal-safe calls only.
[[noreturn]] void become_holder(pid_t parent, int input, int output, char* const* arguments,
                                char* const* environment) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kExitPeer);  // the parent died before it could be noticed
  const bool connected = inherit_as(input, STDIN_FILENO) && inherit_as(output, STDOUT_FILENO);
  if (connected) ::execve("/proc/self/exe", arguments, environment);
  ::_exit(127);
}

}  // namespace

std::string encode_ready(const HolderReady& ready) {
  return Json{
      {"control", ready.control}, {"limit", ready.limit}, {"memory", encode_memory(ready.memory)}}
      .dump();
}

std::string encode_usage(const HolderUsage& usage) {
  return Json{{"cpu_s", usage.cpu_s}, {"peak_rss_bytes", usage.peak_rss}}.dump();
}

std::optional<HolderReady> decode_ready(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("control") || !json.contains("limit")) return {};
  if (!json["control"].is_string() || !json["limit"].is_string()) return {};
  HolderReady ready;
  ready.control = json["control"];
  ready.limit = json["limit"];
  if (json.contains("memory")) ready.memory = decode_memory(json["memory"]);
  return ready;
}

std::optional<HolderUsage> decode_usage(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("cpu_s") || !json.contains("peak_rss_bytes")) return {};
  if (!json["cpu_s"].is_number() || !json["peak_rss_bytes"].is_number_unsigned()) return {};
  return HolderUsage{json["cpu_s"], json["peak_rss_bytes"]};
}

Result<std::unique_ptr<HolderProcess>> HolderProcess::start(const BenchOptions& options) {
  std::array<int, 2> to_child = {-1, -1};
  std::array<int, 2> from_child = {-1, -1};
  if (::pipe2(to_child.data(), O_CLOEXEC) != 0) return cannot_start("pipe");
  Descriptor child_input(to_child[0]);
  Descriptor input(to_child[1]);
  if (::pipe2(from_child.data(), O_CLOEXEC) != 0) return cannot_start("pipe");
  Descriptor output(from_child[0]);
  Descriptor child_output(from_child[1]);

  std::vector<std::string> arguments = holder_arguments(options);
  arguments.insert(arguments.begin(), "p2p_bench");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::vector<char*> environment = inherited_environment();

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return cannot_start("fork");
  if (pid == 0) {
    become_holder(parent, child_input.get(), child_output.get(), argv.data(), environment.data());
  }
  return std::unique_ptr<HolderProcess>(
      new HolderProcess(pid, std::move(input), std::move(output)));
}

HolderProcess::~HolderProcess() {
  input_.reset(-1);
  // Its output closes when it ends.
  while (!exit_code_ && read_line(kExitPatienceMs)) {
  }
  if (exit_code()) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Result<HolderReady> HolderProcess::wait_ready() {
  const auto line = read_line(kReadyPatienceMs);
  const auto ready = line ? decode_ready(*line) : std::nullopt;
  if (ready) {
    memory_ = ready->memory;
    return *ready;
  }
  return Error(Errc::kConnectFailed, "the holder process did not get ready");
}

std::optional<HolderUsage> HolderProcess::usage() {
  constexpr std::string_view kAsk = "usage\n";
  const ssize_t sent = ::write(input_.get(), kAsk.data(), kAsk.size());
  if (sent != static_cast<ssize_t>(kAsk.size())) return std::nullopt;
  const auto line = read_line(kAnswerPatienceMs);
  return line ? decode_usage(*line) : std::nullopt;
}

std::optional<int> HolderProcess::exit_code() {
  if (exit_code_) return exit_code_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kExitPeer;
  return exit_code_;
}

std::optional<std::string> HolderProcess::read_line(int patience_ms) {
  while (buffered_.find('\n') == std::string::npos) {
    pollfd waiting = {output_.get(), POLLIN, 0};
    const int ready = ::poll(&waiting, 1, patience_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || buffered_.size() > kMaxLineBytes) return {};
    std::array<char, 512> bytes = {};
    const ssize_t got = ::read(output_.get(), bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      // The child is ending: wait for its code, which takes no longer than its last breath.
      int status = 0;
      if (!exit_code_ && ::waitpid(pid_, &status, 0) == pid_) {
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kExitPeer;
      }
      return {};
    }
    buffered_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  const std::size_t end = buffered_.find('\n');
  std::string line = buffered_.substr(0, end);
  buffered_.erase(0, end + 1);
  return line;
}

}  // namespace corail::bench
