#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/holder.h"
#include "apps/p2p_bench/holder_process.h"
#include "apps/p2p_bench/interrupt.h"
#include "apps/p2p_bench/node_setup.h"
#include "apps/p2p_bench/rail_list.h"
#include "apps/p2p_bench/report_file.h"
#include "apps/p2p_bench/requester.h"
#include "apps/p2p_bench/standard_streams.h"
#include "apps/p2p_bench/trace_run.h"

namespace corail::bench {
namespace {

int run_both(const BenchOptions& options, ReportFile& file, Interrupt& interrupt) {
  const auto enough = check_memory(options);
  if (!enough.ok()) {
    complain(enough.error().detail());
    return kExitPeer;
  }
  auto holder = HolderProcess::start(options);
  if (!holder.ok()) {
    complain(holder.error().detail());
    return kExitPeer;
  }
  const auto ready = (*holder)->wait_ready();
  if (!ready.ok()) {
    // A holder that ended by itself has said why.
    const auto code = (*holder)->exit_code();
    if (!code || *code == kExitFine) complain(ready.error().detail());
    return code && *code != kExitFine ? *code : kExitPeer;
  }
  return run_requester(options, {ready->control, ready->limit}, holder->get(), file, interrupt);
}

int run(const BenchOptions& options) {
  set_log_level(options.log_level);
  // A peer or a reader of our output that went away is an error of that write, not our end.
  std::signal(SIGPIPE, SIG_IGN);
  auto file = ReportFile::open(options.json);
  if (!file.ok()) {
    complain(file.error().detail());
    return kExitUsage;
  }
  if (options.list_rails) return list_rails(options, *file);
  Interrupt interrupt;
  // Until there is something to show or to close, an interrupt ends the process; the child dies
  // with it.
  interrupt.on_signal([supervised = options.supervised, raw = &*file](int signal) {
    if (supervised && signal == SIGINT) return;
    raw->discard();
    ::_exit(kExitInterrupted);
  });
  if (!options.trace.empty()) return run_trace(options, *file, interrupt);
  switch (options.role) {
    case Role::kHolder:
      return run_holder(options, interrupt);
    case Role::kRequester:
      return run_requester(options, {options.peer, limit_beside(options.peer)}, nullptr, *file,
                           interrupt);
    case Role::kBoth:
      return run_both(options, *file, interrupt);
  }
  return kExitUsage;
}

}  // namespace
}  // namespace corail::bench

int main(int argc, char** argv) {
  corail::bench::open_standard_streams();
  const auto parsed = corail::bench::parse_options(argc, argv);
  if (!parsed.options) {
    std::FILE* to = parsed.exit_code == corail::bench::kExitFine ? stdout : stderr;
    std::fputs(parsed.text.c_str(), to);
    return parsed.exit_code;
  }
  try {
    return corail::bench::run(*parsed.options);
  } catch (const std::exception& exception) {
    // Start-up only: the data path returns its errors.
    corail::bench::complain(exception.what());
    return corail::bench::kExitPeer;
  }
}
