#include "apps/p2p_bench/trace_run.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/node_setup.h"
#include "apps/p2p_bench/option_values.h"
#include "apps/p2p_bench/process_usage.h"
#include "apps/p2p_bench/stored_sets.h"
#include "apps/p2p_bench/trace_file.h"
#include "apps/p2p_bench/trace_replay.h"
#include "apps/p2p_bench/trace_report.h"

namespace corail::bench {
namespace {

/// A node that is closed when it goes.
class OpenNode {
 public:
  explicit OpenNode(std::unique_ptr<Node> node) : node_(std::move(node)) {}
  ~OpenNode() {
    await_on(node_->executor(), node_->close());
    node_->stop();
  }
  OpenNode(const OpenNode&) = delete;
  OpenNode& operator=(const OpenNode&) = delete;

  Node& operator*() const { return *node_; }
  Node* operator->() const { return node_.get(); }
  Result<void> start() { return await_on(node_->executor(), node_->start()); }

 private:
  const std::unique_ptr<Node> node_;
};

NodeOptions holder_options(const BenchOptions& options) {
  NodeOptions node = node_options_for(options);
  node.listen = options.listen;
  Shape capacity = options.shape;
  capacity.blocks = options.trace_capacity_blocks;
  capacity.sets = 1;
  node.store = store_options_for(capacity, options.huge_pages, options.max_region_bytes);
  return node;
}

Result<void> replay(const BenchOptions& options, const std::vector<TraceRequest>& requests,
                    Interrupt& interrupt, TraceResult& result) {
  SteadyClock clock;
  SystemRandom random;
  auto created = Node::create(holder_options(options), clock, random, nullptr);
  if (!created.ok()) return std::move(created).error();
  OpenNode holder(std::move(*created));
  created = Node::create(node_options_for(options), clock, random, nullptr);
  if (!created.ok()) return std::move(created).error();
  OpenNode requester(std::move(*created));
  auto started = holder.start();
  if (started.ok()) started = requester.start();
  if (!started.ok()) return started;
  auto peer = await_on(requester->executor(), requester->connect(holder->listen_address()));
  if (!peer.ok()) return std::move(peer).error();

  CancelToken cancel;
  const Interrupt::Scope scope(interrupt, [cancel](int) mutable { cancel.cancel(); });
  TraceReplay replay(TraceParts{options, requests, *holder, *requester, **peer, clock, cancel});
  return guarded([&] { return replay.run(result); });
}

int report(const BenchOptions& options, const TraceResult& result, ReportFile& file) {
  const std::string table = make_trace_table(options, result);
  std::FILE* to = options.json == "-" ? stderr : stdout;
  std::fwrite(table.data(), 1, table.size(), to);
  std::fflush(to);
  int code = kExitFine;
  if (file.wanted()) {
    const auto written = file.write(make_trace_report(options, result).dump(2) + "\n");
    if (!written.ok()) {
      complain(written.error().detail());
      code = kExitUsage;
    }
  }
  for (const std::string& failure : failed_trace_checks(result)) {
    complain("check failed: " + failure);
    code = kExitCheckFailed;
  }
  return code;
}

}  // namespace

int run_trace(const BenchOptions& options, ReportFile& file, Interrupt& interrupt) {
  const auto available = available_memory();
  const std::uint64_t needed = options.shape.block_bytes() * options.trace_capacity_blocks;
  if (available && needed > *available) {
    complain(
        fmt::format("the holder needs {} of memory and {} are available, use fewer "
                    "--trace-capacity-blocks",
                    format_bytes(needed), format_bytes(*available)));
    return kExitPeer;
  }
  const auto requests = read_trace(options.trace);
  if (!requests.ok()) {
    complain(requests.error().detail());
    return kExitUsage;
  }
  TraceResult result;
  const auto ran = replay(options, *requests, interrupt, result);
  int code = kExitFine;
  if (result.requests != 0 || ran.ok()) code = report(options, result, file);
  if (!ran.ok()) {
    complain(ran.error().to_string());
    code = exit_code_of(ran.error());
  }
  return result.interrupted ? kExitInterrupted : code;
}

}  // namespace corail::bench
