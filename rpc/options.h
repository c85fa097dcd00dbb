#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/plan/layout.h"
#include "engine/rail/port_budget.h"
#include "engine/rail/tcp/tcp_limits.h"
#include "engine/rail/verbs/verbs_options.h"
#include "engine/read/cancel_token.h"
#include "engine/read/stuck_memory.h"
#include "engine/read/when_full.h"
#include "engine/store/block_store.h"
#include "rpc/object_options.h"

namespace corail {

struct PortOptions;

/// Longer than a device takes for a small read, and short beside what a wake-up costs others.
inline constexpr Duration kDefaultSpin = std::chrono::microseconds(20);
inline constexpr Duration kMaxSpin = std::chrono::seconds(1);

/// Shorter registrations would cut slices into crumbs.
inline constexpr std::uint64_t kLeastRegionBytes = kMiB;

/// Everything a node can be told. A value; the defaults are those of a production pair.
struct NodeOptions {
  std::string name = "corail";               // for people, in errors and logs
  std::vector<std::string> rails;            // rail specs, one per local port: "tcp:10.0.0.1"
  std::string listen;                        // control address "ip:port"; empty: requester only
  std::uint32_t channels_per_rail = 2;       // connections per rail
  std::uint64_t max_read_bytes = 32 * kMiB;  // longest slice
  std::uint64_t window_bytes = 128 * kMiB;   // posted and not landed, per rail
  std::uint64_t send_buffer_bytes =
      kDefaultSendBufferBytes;            // of a tcp connection; 0: the kernel's choice
  PathTuning path_tuning;                 // of verbs rails
  std::optional<std::uint8_t> gid_index;  // of verbs rails whose spec names none; empty: the best
  std::uint64_t max_region_bytes = 0;     // of a registration; 0: what the device takes
  /// How long the thread of a verbs rail goes on polling after the last completion before it sleeps
  /// until the device wakes it; 0: not at all. Threads that have no core to themselves never spin.
  Duration spin = kDefaultSpin;
  std::uint32_t threads = 0;  // rail executors; 0: min(ports, cores)
  Duration call_deadline = std::chrono::seconds(10);
  Duration keep_alive = std::chrono::seconds(5);
  Duration fence_deadline = std::chrono::seconds(2);
  Duration lease_ttl = std::chrono::seconds(120);
  Duration lease_margin = std::chrono::seconds(2);
  std::uint64_t destination_bytes = 64 * kGiB;  // most memory for read results; mapped as needed
  bool huge_pages = false;
  /// Budgets: bytes of the reads that are admitted and have not ended, of all peers and of each,
  /// and bytes posted and not landed over all rails of a local port. 0: no bound. What finds no
  /// room waits, in turn, or is refused, see FetchOptions::when_full. By default a read waits
  /// rather than finding no memory, a peer that is slow leaves three quarters of the node to the
  /// others, and a port has as much as eight full windows under way (see kDefaultPortBudgetBytes).
  std::uint64_t node_budget_bytes = 64 * kGiB;
  std::uint64_t peer_budget_bytes = 16 * kGiB;
  std::uint64_t port_budget_bytes = kDefaultPortBudgetBytes;
  /// Memory of puts, at most: of the stripes that this node writes to others and that are not there
  /// yet, and as much again of those that it has from others and not stored yet. One put, or
  /// stripe, that is larger goes alone. 0: no bound.
  std::uint64_t put_bytes = kGiB;
  StoreOptions store;         // without capacity the node holds no blocks
  NodeObjectOptions objects;  // without memory or directories it holds no objects
  /// A read into registered memory of a caller's own that cannot end, because a rail's device hangs
  /// and may still write there (contract 4). It is logged, told here, on the thread of a rail and
  /// hence without blocking, and then, if so chosen, the process aborts: only its end makes sure of
  /// the device. Else the read goes on to wait, and close() of the peer and the node with it.
  std::function<void(const StuckMemory&)> on_stuck;
  bool abort_when_stuck = false;
};

/// What of them concerns each port.
PortOptions port_options_of(const NodeOptions& options);

/// Fails with kInvalidArgument, naming the option, for values that no node can run with.
Result<void> check_options(const NodeOptions& options);

/// Which blocks: the namespace and hashes of a prefix, in order. The identity of what is fetched
/// comes from here only, never from the holder's answer. Shared and immutable while a fetch runs.
struct BlockKeys {
  std::string name_space;           // at most 256 bytes
  std::vector<std::string> hashes;  // 1 to 64 opaque bytes each, no two alike
};

struct FetchOptions {
  /// A constructor, because GCC 12 destroys braced aggregates twice in a co_await expression.
  FetchOptions() {}

  Integrity integrity = Integrity::kXxh3;
  AnswerEncoding encoding = AnswerEncoding::kParts;  // kRuns from a holder that knows nothing else
  Duration deadline = std::chrono::seconds(60);
  /// How long the holder may wait for blocks that nobody has sealed yet: it answers as soon as all
  /// that is asked for is there, or with what there is then (kNotFound: nothing). At most 5 minutes
  /// and less than the deadline, or there is no time left to read. The fetch keeps its part of the
  /// budgets meanwhile, and no block.
  Duration wait_for_blocks{};
  bool retry_on_survivors = false;  // see ReadRequest::retry_on_survivors
  /// Where a budget of the node has no room: wait for it, until the deadline or a cancel, or be
  /// refused at once with kQuotaExceeded.
  WhenFull when_full = WhenFull::kWait;
  CancelToken cancel;  // pulling it ends the fetch, once it is quiescent
  /// The caller's own memory, to get a copy of the blocks when they are committed: block-major and
  /// dense, the segment of a block and lane at block * block_bytes() + lane_offset(lane) of the
  /// layout. Of a short prefix its blocks only are written; unless the fetch succeeds, no byte is,
  /// ever (contract 7). Large enough for all keys, else kInvalidArgument before anything is sent;
  /// valid and left alone until the fetch has returned. The view is returned as well.
  std::optional<std::span<std::byte>> copy_on_commit;
};

}  // namespace corail
