#include "apps/p2p_bench/node_setup.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

#include "apps/p2p_bench/object_memory.h"
#include "apps/p2p_bench/option_values.h"
#include "apps/p2p_bench/process_usage.h"
#include "apps/p2p_bench/save_steps.h"
#include "engine/rail/rail_spec.h"

namespace corail::bench {
NodeOptions node_options_for(const BenchOptions& options) {
  NodeOptions node;
  node.name = "p2p_bench " + to_string(options.role);
  node.rails = options.rails;
  node.channels_per_rail = options.channels_per_rail;
  node.max_read_bytes = options.max_read_bytes;
  node.window_bytes = options.window_bytes;
  node.send_buffer_bytes = options.send_buffer_bytes;
  node.path_tuning = options.path_tuning;
  node.gid_index = options.gid_index;
  node.max_region_bytes = options.max_region_bytes;
  node.spin = std::chrono::microseconds(options.spin_us);
  node.huge_pages = options.huge_pages;
  // Every read at a time, and slabs of which the last of each node may be mostly empty.
  node.destination_bytes =
      std::max(node.destination_bytes, (options.concurrency + 1) * options.shape.payload_bytes());
  return node;
}

std::vector<std::uint64_t> longest_reads(const BenchOptions& options) {
  std::vector<std::uint64_t> longest;
  for (const AnswerEncoding encoding : options.encodings) {
    const std::uint64_t most = max_read_bytes_for(options, encoding);
    if (std::ranges::count(longest, most) == 0) longest.push_back(most);
  }
  return longest;
}

std::vector<std::string> rail_hosts(const std::vector<std::string>& rails,
                                    const std::string& fallback) {
  std::vector<std::string> hosts;
  for (const std::string& rail : rails) {
    const auto spec = parse_rail_spec(rail);
    const auto* tcp = spec.ok() ? std::get_if<TcpRailSpec>(&*spec) : nullptr;
    if (tcp == nullptr) {
      hosts.push_back(fallback);
    } else if (tcp->address.find(':') != std::string::npos) {
      hosts.push_back("[" + tcp->address + "]");
    } else {
      hosts.push_back(tcp->address);
    }
  }
  return hosts;
}

Result<void> check_memory(const BenchOptions& options) {
  const Shape& shape = options.shape;
  std::uint64_t needed = 0;
  if (options.role != Role::kRequester && options.objects.count != 0) {
    needed += shape.payload_bytes();  // of the raw loop
    needed += object_options_for(options.objects, shape).memory_bytes;
  } else if (options.role != Role::kRequester) {
    for (const std::uint64_t bytes : held_bytes_by_node(shape)) needed += bytes;
  }
  if (options.role != Role::kHolder) {
    needed += shape.payload_bytes() * options.concurrency * longest_reads(options).size();
  }
  const auto available = available_memory();
  if (!available || needed <= *available) return ok_result();
  return Error(Errc::kOutOfMemory, Stage::kSetup,
               fmt::format("this run needs {} of memory and {} are available, use fewer --blocks "
                           "or --sets, or less --concurrency",
                           format_bytes(needed), format_bytes(*available)));
}

Result<void> guarded(const std::function<Result<void>()>& work) {
  try {
    return work();
  } catch (const std::exception& exception) {
    return Error(Errc::kOutOfMemory, exception.what());
  }
}

void complain(const std::string& sentence) {
  const std::string line = fmt::format("p2p_bench: {}\n", sentence);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int exit_code_of(const Error& error) {
  const bool callers = error.error_class() == ErrorClass::kCaller;
  return callers && error.stage() == Stage::kSetup ? kExitUsage : kExitPeer;
}

}  // namespace corail::bench
