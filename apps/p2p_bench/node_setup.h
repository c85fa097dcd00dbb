#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_options.h"
#include "rpc/options.h"

namespace corail::bench {

/// What both roles tell their node; the holder adds its store and its address.
NodeOptions node_options_for(const BenchOptions& options);

/// The longest read of each node that the requester needs: encodings with the same one share it.
std::vector<std::uint64_t> longest_reads(const BenchOptions& options);

/// The address of each rail's local end, in brackets where it needs them, for the raw loop;
/// `fallback` stands for rails that have no IP address.
std::vector<std::string> rail_hosts(const std::vector<std::string>& rails,
                                    const std::string& fallback);

/// Refuses to start what would only be killed for want of memory.
Result<void> check_memory(const BenchOptions& options);

/// Runs what may run out of memory or threads and throw, while a node must still be closed: an
/// exception becomes an Error.
Result<void> guarded(const std::function<Result<void>()>& work);

/// One line on standard error: "p2p_bench: <sentence>".
void complain(const std::string& sentence);

/// The exit code for an error of setting up or connecting: usage or peer.
int exit_code_of(const Error& error);

}  // namespace corail::bench
