#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/result.h"
#include "test/node/two_nodes.h"
#include "test/support/resource_census.h"

namespace corail::test {

/// Descriptors and threads, the leases of the holder in this process, the chunks of the requester.
inline ResourceCensus census_of(TwoNodes& nodes) {
  ResourceCensus census;
  census.add("leases", [&nodes] { return nodes.holder_stats().leases; });
  census.add("bytes of chunks",
             [&nodes] { return nodes.requester().memory().outstanding_bytes(); });
  return census;
}

inline std::string describe(const Error& error) { return error.to_string(); }

template <typename T>
std::string describe(const Result<T>& result) {
  return result.ok() ? "success" : result.error().to_string();
}

/// Whether the condition came true while other threads went on; false after a time that is for
/// hangs, not for slowness.
template <typename Condition>
bool comes_true(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace corail::test
