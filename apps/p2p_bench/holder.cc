#include "apps/p2p_bench/holder.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>

#include "apps/p2p_bench/descriptor.h"
#include "apps/p2p_bench/holder_process.h"
#include "apps/p2p_bench/limit_server.h"
#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/node_setup.h"
#include "apps/p2p_bench/object_memory.h"
#include "apps/p2p_bench/option_values.h"
#include "apps/p2p_bench/process_usage.h"
#include "apps/p2p_bench/stored_sets.h"
#include "engine/base/check.h"

namespace corail::bench {
namespace {

void print_line(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

/// A terminal, a file or /dev/null says nothing about who started us; a pipe that closes does.
bool input_is_pipe() {
  struct stat status = {};
  return ::fstat(STDIN_FILENO, &status) == 0 && S_ISFIFO(status.st_mode);
}

/// Answers what arrives on standard input. False at its end.
bool answer_input(bool supervised) {
  std::array<char, 512> bytes = {};
  const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got < 0) return errno == EINTR;
  if (got == 0) return false;
  if (!supervised) return true;
  // The parent waits for each answer, so that one line arrives at a time.
  print_line(encode_usage(HolderUsage{process_cpu_seconds(), process_peak_rss()}));
  return true;
}

/// The end of serving: a signal, or the end of an input that is a pipe. Made before anybody is told
/// that the holder serves, so that a signal right after that finds it.
class End {
 public:
  End(bool supervised, Interrupt& interrupt)
      : supervised_(supervised),
        signalled_(::eventfd(0, EFD_CLOEXEC)),
        scope_(interrupt, [this](int signal) { on_signal(signal); }) {}

  void wait() {
    const int input = supervised_ || input_is_pipe() ? STDIN_FILENO : -1;
    std::array<pollfd, 2> waiting = {pollfd{signalled_.get(), POLLIN, 0}, pollfd{input, POLLIN, 0}};
    while (true) {
      if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
      if (waiting[0].revents != 0) return;
      if (waiting[1].revents != 0 && !answer_input(supervised_)) return;
    }
  }

 private:
  void on_signal(int signal) {
    // A terminal sends its SIGINT to the parent too, which then closes our input.
    if (supervised_ && signal == SIGINT) return;
    const std::uint64_t one = 1;
    CORAIL_CHECK(::write(signalled_.get(), &one, sizeof(one)) == sizeof(one),
                 "an eventfd takes a one");
  }

  const bool supervised_;
  const Descriptor signalled_;
  const Interrupt::Scope scope_;
};

/// Opens the limit endpoint, or says why there is none.
std::unique_ptr<LimitServer> open_limit(const BenchOptions& options, const std::string& control,
                                        const std::vector<SourceMemory>& sets) {
  if (!options.limit) return nullptr;
  const HostPort at = split_address(control);
  // Others find it beside the control port; a parent is told.
  const std::uint32_t port = options.supervised ? 0 : at.port + 1;
  auto server =
      LimitServer::open(at.host, rail_hosts(options.rails, at.host), port, options.shape, sets);
  if (server.ok()) return std::move(*server);
  complain("no limit endpoint: " + server.error().detail());
  return nullptr;
}

void report_ready(Node& node, const BenchOptions& options, const std::string& limit) {
  const std::string control = node.listen_address();
  std::optional<MemoryFacts> memory;
  if (options.objects.count == 0) {
    const auto slabs = call_on(node.executor(), [&] { return node.blocks().describe(); });
    memory = memory_facts(slabs, options.huge_pages);
  }
  if (options.supervised) {
    print_line(encode_ready(HolderReady{control, limit, memory}));
    return;
  }
  const std::string what =
      options.objects.count != 0
          ? fmt::format("keeps objects in {}", options.objects.store)
          : fmt::format("holds {} x {} blocks, {},", options.shape.sets, options.shape.blocks,
                        format_bytes(options.shape.stored_bytes()));
  print_line(fmt::format("{} on {}; limit endpoint {}; ends on SIGTERM", what, control,
                         limit.empty() ? "none" : limit));
  if (!memory) return;
  for (const std::string& line : memory->missing) print_line("holder's memory: " + line);
}

void serve(Node& node, const BenchOptions& options, const std::vector<SourceMemory>& sets,
           Interrupt& interrupt) {
  const auto limit = open_limit(options, node.listen_address(), sets);
  End end(options.supervised, interrupt);
  report_ready(node, options, limit ? limit->address() : "");
  end.wait();
}

/// What the holder does between starting and closing its node.
Result<void> hold(Node& node, const BenchOptions& options, Interrupt& interrupt) {
  auto started = await_on(node.executor(), node.start());
  if (!started.ok()) return started;
  if (options.objects.count != 0) {
    auto memory = ObjectMemory::allocate(node.memory(), options.shape);
    if (!memory.ok()) return std::move(memory).error();
    serve(node, options, memory->sets(), interrupt);
    return ok_result();
  }
  auto sets = save_sets(node, options.shape);
  if (!sets.ok()) return std::move(sets).error();
  serve(node, options, *sets, interrupt);
  return ok_result();
}

}  // namespace

int run_holder(const BenchOptions& options, Interrupt& interrupt) {
  const auto enough = check_memory(options);
  if (!enough.ok()) {
    complain(enough.error().detail());
    return kExitPeer;
  }
  NodeOptions node_options = node_options_for(options);
  node_options.listen = options.listen;
  if (options.objects.count != 0) {
    node_options.objects = object_options_for(options.objects, options.shape);
  } else {
    node_options.store =
        store_options_for(options.shape, options.huge_pages, options.max_region_bytes);
  }
  SteadyClock clock;
  SystemRandom random;
  auto node = Node::create(std::move(node_options), clock, random, nullptr);
  if (!node.ok()) {
    complain(node.error().to_string());
    return exit_code_of(node.error());
  }
  const auto held = guarded([&] { return hold(**node, options, interrupt); });
  await_on((*node)->executor(), (*node)->close());
  (*node)->stop();
  if (held.ok())
    return interrupt.signal() == SIGINT && !options.supervised ? kExitInterrupted : kExitFine;
  complain(held.error().to_string());
  return exit_code_of(held.error());
}

}  // namespace corail::bench
