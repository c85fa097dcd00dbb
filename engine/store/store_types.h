#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "engine/memory/memory_registrar.h"
#include "engine/memory/slab.h"
#include "engine/plan/layout.h"
#include "engine/plan/part_table.h"
#include "engine/plan/run_table.h"

namespace corail {

/// The sizes of a block's identity (I8): a hash is 1 to 64 opaque bytes, a namespace at most 256.
inline constexpr std::size_t kMaxHashBytes = 64;
inline constexpr std::size_t kMaxNamespaceBytes = 256;
/// The most parts that a block may be saved in: one per tensor-parallel saver.
inline constexpr std::uint32_t kMaxParts = 1024;

/// How much memory of one NUMA node the store gets, as one slab, and one region where its devices
/// serve that much under one key.
struct NodeCapacity {
  std::int32_t numa_node = 0;
  std::uint64_t bytes = 0;
};

struct StoreOptions {
  std::vector<NodeCapacity> nodes;  // each node once
  SlabBacking backing = SlabBacking::kAnonymous;
  bool huge_pages = false;
  /// Devices that peers read the store through; every slab is registered with each, and its keys
  /// are published in this order.
  MemoryRegistrars registrars{};
  std::uint64_t max_extent_bytes = 64 * kMiB;  // of one part of one allocation of a save
  std::uint32_t max_hashes = 65'536;           // of one query and of one save
  std::uint64_t max_blocks = 16'777'216;       // in the index
  std::uint32_t max_namespaces = 65'536;
  std::uint32_t max_leases_per_requester = 64;
  // Of the extents that leases keep in place as a whole; one that two leases keep counts twice.
  std::uint64_t max_leased_bytes_per_requester = 64 * kGiB;
  std::uint32_t max_ended_reads_per_requester = 1024;  // remembered lapses and tombstones
  // What queries may wait for to be sealed, see BlockStore::watch: as many as may hold leases, and
  // as many keys as one query may have.
  std::uint32_t max_waiting_queries_per_requester = 64;
  std::uint32_t max_waited_keys_per_requester = 65'536;
  std::uint64_t max_answer_runs = 2'097'152;  // of one answer: more of them end the prefix early
  Duration lease_ttl = std::chrono::seconds(120);      // where the query does not ask for one
  Duration max_lease_ttl = std::chrono::seconds(600);  // what a query may ask for; more is capped
  Duration save_ttl = std::chrono::seconds(60);  // from begin() until an unsealed save is dropped
  Duration ended_read_ttl = std::chrono::seconds(120);  // how long an ended read is remembered
};

/// How the blocks of one save lie in memory. Block-major: all lanes of a part abut, then the next
/// block. Lane-major: one buffer per lane for all blocks of an extent.
enum class BlockOrder { kBlockMajor, kLaneMajor };

/// What is about to be saved. Everything it refers to must live until begin() returns.
struct SaveRequest {
  std::string_view name_space;
  std::shared_ptr<const Layout> layout;         // from BlockStore::intern
  std::span<const std::string_view> hashes;     // in prefix order
  std::span<const std::uint32_t> part_of_lane;  // per lane; empty: everything is part 0
  std::span<const std::int32_t> part_numa;      // NUMA node of each part; each part has a lane
  BlockOrder order = BlockOrder::kBlockMajor;
};

/// How an answer says where the blocks lie. Every holder and requester knows kRuns.
enum class AnswerEncoding : std::uint8_t {
  kRuns,     // runs of each lane
  kParts,    // runs of each part
  kSegments  // an address for each segment: what the others are measured against
};

/// A requester's question. Everything but the session is remote input (I5); everything it refers to
/// must live until the query returns.
struct QueryRequest {
  SessionId session;
  ReadId read;
  std::string_view name_space;
  std::span<const std::string_view> hashes;  // in prefix order, no hash twice
  Duration ttl{};                            // 0: StoreOptions::lease_ttl
  AnswerEncoding encoding = AnswerEncoding::kRuns;
};

/// The longest prefix that is there, leased. `block_count` 0 is a success without a lease, layout
/// or runs: there is nothing to confirm or release.
struct QueryAnswer {
  LeaseId lease;
  Duration ttl{};  // from when the query was answered
  std::uint32_t block_count = 0;
  std::shared_ptr<const Layout> layout;
  AnswerEncoding encoding = AnswerEncoding::kRuns;
  RunTable runs;                         // of kRuns and kSegments
  PartTable parts;                       // of kParts
  std::vector<std::uint64_t> checksums;  // per block: block_checksum of base/checksum.h
  TableGeneration generation;            // of the regions that the runs lie in
};

/// Where one segment of a stored block lies.
struct SegmentLocation {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  RegionId region;
};

struct StoreStats {
  std::uint64_t blocks = 0;
  std::uint64_t extents = 0;  // in the index; leased and pinned ones of evicted blocks are not
  std::uint64_t leases = 0;
  std::uint64_t ended_reads = 0;     // remembered
  std::uint64_t watches = 0;         // that wait for keys to be sealed
  std::uint64_t watched_keys = 0;    // by all of them
  std::uint64_t capacity_bytes = 0;  // over all nodes
  std::uint64_t free_bytes = 0;
  std::uint64_t evicted_blocks = 0;  // since the start, as all below
  std::uint64_t lapsed_leases = 0;
  std::uint64_t saved_blocks = 0;
  std::uint64_t expired_saves = 0;
  std::uint64_t deduplicated_blocks = 0;
};

}  // namespace corail
