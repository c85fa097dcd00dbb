#include "apps/p2p_bench/requester.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "apps/p2p_bench/asking_nodes.h"
#include "apps/p2p_bench/limit_client.h"
#include "apps/p2p_bench/node_setup.h"
#include "apps/p2p_bench/process_usage.h"
#include "apps/p2p_bench/report_json.h"
#include "apps/p2p_bench/report_table.h"
#include "apps/p2p_bench/runner.h"
#include "apps/p2p_bench/summary.h"
#include "engine/base/random.h"

namespace corail::bench {
namespace {

/// Refuses a holder with another shape, where it says which one it has.
Result<void> compare_shapes(const BenchOptions& options, const HolderHello& hello,
                            const std::string& address) {
  const auto difference = first_difference(options.shape, hello.shape);
  if (!difference) return ok_result();
  if (options.objects.count != 0) {
    return Error(Errc::kInvalidArgument, Stage::kConnect,
                 "the holder was started for something else; both sides need the same --objects, "
                 "--object-mib, --stripe-mib and --seed")
        .on_peer(address);
  }
  return Error(Errc::kLayoutMismatch, Stage::kConnect,
               *difference + "; both sides need the same shape flags")
      .on_peer(address);
}

/// The raw loop's connections, or null and a reason in `missing`.
std::unique_ptr<LimitClient> open_limit(const BenchOptions& options, const HolderHello& hello,
                                        Clock& clock, std::string& missing) {
  if (!options.limit || options.cancel_after_ms) {
    missing = options.limit ? "--cancel-after" : "--no-limit";
    return nullptr;
  }
  auto client =
      LimitClient::open(hello, rail_hosts(options.rails, ""), options.channels_per_rail, clock);
  if (client.ok()) return std::move(*client);
  missing = client.error().detail();
  return nullptr;
}

/// The greeting of the limit endpoint, which also tells the holder's shape.
Result<HolderHello> greet_holder(const HolderAddresses& addresses) {
  if (addresses.limit.empty()) return Error(Errc::kNotFound, "the holder offers no limit endpoint");
  return ask_holder(addresses.limit);
}

Result<void> connect_and_run(const BenchOptions& options, const HolderAddresses& addresses,
                             HolderProcess* holder, Interrupt& interrupt, Clock& clock,
                             AskingNodes& nodes, RunResult& result) {
  auto connected = nodes.connect(addresses.control);
  if (!connected.ok()) return connected;
  std::unique_ptr<LimitClient> limit;
  const auto hello = greet_holder(addresses);
  if (hello.ok()) {
    auto same = compare_shapes(options, *hello, addresses.control);
    if (!same.ok()) return same;
    limit = open_limit(options, *hello, clock, result.limit_missing);
  } else {
    result.limit_missing = options.limit ? hello.error().detail() : "--no-limit";
  }

  CancelToken cancel;
  const Interrupt::Scope scope(interrupt, [cancel, raw = limit.get()](int) mutable {
    cancel.cancel();
    if (raw != nullptr) raw->abort();
  });
  Runner runner(RunParts{options, nodes.askers(options), clock, cancel, limit.get(), holder},
                result);
  return runner.run();
}

/// The table goes where the report does not.
void print_table(const BenchOptions& options, const std::string& table) {
  std::FILE* to = options.json == "-" ? stderr : stdout;
  std::fwrite(table.data(), 1, table.size(), to);
  std::fflush(to);
}

int report(const BenchOptions& options, const RunResult& result, const Result<void>& ran,
           ReportFile& file) {
  const Summary summary = summarize(options, result);
  int code = kExitFine;
  const bool anything = !result.iterations.empty() || result.interrupted || ran.ok();
  if (anything) print_table(options, make_table(options, result, summary));
  if (anything && file.wanted()) {
    const auto written = file.write(make_report(options, result, summary).dump(2) + "\n");
    if (!written.ok()) {
      complain(written.error().detail());
      code = kExitUsage;
    }
  }
  if (anything) {
    for (const std::string& failure : failed_checks(options, result, summary)) {
      complain("check failed: " + failure);
      code = kExitCheckFailed;
    }
  }
  if (!ran.ok()) {
    complain(ran.error().to_string());
    code = exit_code_of(ran.error());
  }
  return result.interrupted ? kExitInterrupted : code;
}

}  // namespace

std::string limit_beside(const std::string& control) {
  const HostPort at = split_address(control);
  return at.port == 65'535 ? "" : fmt::format("{}:{}", at.host, at.port + 1);
}

int run_requester(const BenchOptions& options, const HolderAddresses& addresses,
                  HolderProcess* holder, ReportFile& file, Interrupt& interrupt) {
  SteadyClock clock;
  SystemRandom random;
  RunResult result;
  result.machine = this_machine();
  AskingNodes nodes;
  const auto created = nodes.create(options, clock, random);
  if (!created.ok()) {
    complain(created.error().to_string());
    return exit_code_of(created.error());
  }
  const auto ran = guarded(
      [&] { return connect_and_run(options, addresses, holder, interrupt, clock, nodes, result); });
  result.interrupted = interrupt.signal() != 0;
  result.requester_peak_rss = process_peak_rss();
  result.requester_memory = memory_facts(nodes.describe_memory(), options.huge_pages);
  if (holder != nullptr) result.holder_memory = holder->memory();
  nodes.close();
  return report(options, result, ran, file);
}

}  // namespace corail::bench
