// Reads that are cancelled at random times, and the memory that they had.
#include <fmt/core.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "test/softroce/verbs_nodes.h"

namespace corail::test {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kCancels = 1000;
/// How late the slowest one in a hundred may be behind the fence's deadline.
constexpr milliseconds kSlack{100};

void print(const char* what, const std::vector<microseconds>& sorted) {
  const auto at = [&sorted](std::size_t share) {
    return static_cast<double>(sorted[(sorted.size() - 1) * share / 100].count()) / 1000;
  };
  fmt::print("{}: p50 {:.1f} ms, p99 {:.1f} ms, longest {:.1f} ms\n", what, at(50), at(99),
             at(100));
}

BOOST_AUTO_TEST_SUITE(cancels)

/// Small windows: most of these reads end within the ladder's first step, the wait.
BOOST_AUTO_TEST_CASE(nothing_lands_behind_a_thousand_cancels) {
  TwoNodes::Shape shape = verbs_shape(32);
  shape.max_read_bytes = 128 * kKiB;
  shape.window_bytes = kMiB;
  shape.fence_deadline = milliseconds(500);
  VerbsNodes pair(shape);
  const std::uint64_t bytes = shape.blocks * pair.nodes.layout()->block_bytes();
  const auto began = steady_clock::now();
  pair.check_reads();
  const auto whole = duration_cast<microseconds>(steady_clock::now() - began);
  SeededRandom random(11);
  std::vector<microseconds> latencies;
  std::unique_ptr<NextOwner> owner;
  std::uint64_t late = 0;
  std::size_t committed = 0;
  while (latencies.size() < kCancels) {
    BOOST_TEST_REQUIRE(committed < kCancels);
    FetchOptions options;
    CancelToken token = options.cancel;
    auto running = pair.nodes.start(*pair.peer, options);
    std::this_thread::sleep_for(
        microseconds(random.below(static_cast<std::uint64_t>(whole.count()))));
    const auto cancelled = steady_clock::now();
    token.cancel();
    const auto view = running.get();
    if (view.ok()) {
      ++committed;
      continue;
    }
    BOOST_TEST_REQUIRE((view.error().code() == Errc::kCancelled), describe(view));
    latencies.push_back(duration_cast<microseconds>(steady_clock::now() - cancelled));
    // One owner watches while the next read runs elsewhere; then its place is the first that is
    // free, and the next owner takes what that read had.
    auto next = std::make_unique<NextOwner>(pair.nodes.requester().memory(), bytes);
    if (owner) late += owner->late_bytes();
    owner = std::move(next);
  }
  std::this_thread::sleep_for(milliseconds(200));
  late += owner->late_bytes();
  owner.reset();
  std::sort(latencies.begin(), latencies.end());
  print("from the cancel until the read had returned", latencies);
  fmt::print("{} cancelled, {} committed before their cancel, {} late bytes\n", kCancels, committed,
             late);
  BOOST_TEST(late == 0U);
  BOOST_TEST((latencies[(kCancels - 1) * 99 / 100] <= shape.fence_deadline + kSlack));
  BOOST_TEST(pair.outstanding() == 0U);
  BOOST_TEST(pair.nodes.requester().memory().quarantined_chunks() == 0U);
  pair.check_reads();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
