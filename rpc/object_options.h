#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/plan/object_demand.h"
#include "engine/plan/schedule.h"
#include "engine/read/cancel_token.h"
#include "engine/read/when_full.h"
#include "rpc/destination_piece.h"

namespace corail {

/// Whether the engine checks the payload against the holder's checksums before it commits.
enum class Integrity { kNone, kXxh3 };

/// Where a node keeps objects: in memory that peers read, or in directories, one for each device,
/// from which it writes into the memory of those that read. Neither: it holds none.
struct NodeObjectOptions {
  std::uint64_t memory_bytes = 0;
  std::vector<std::string> directories;  // existing ones, which nobody else uses
  std::size_t disk_threads = 4;          // that block in what the kernel offers as blocking calls
  /// Memory that is read into from the directories, and sent from: so many orders are served at
  /// once, and none is longer than a buffer.
  std::size_t staging_buffers = 16;
  std::uint64_t staging_buffer_bytes = 4 * kMiB;
};

/// Fewer bytes than a granule cannot be verified; more than this, nobody orders at once.
inline constexpr std::uint64_t kMaxStagingBufferBytes = kGiB;
inline constexpr std::size_t kMaxStagingBuffers = 4096;
inline constexpr std::size_t kMaxObjectDirectories = 256;
inline constexpr std::size_t kMaxDiskThreads = 256;

/// Who moves the bytes of an object.
enum class ObjectMode {
  kAuto,  // pulled where they are in the owner's memory, pushed where not
  kPull,  // kRefused where they are not
  kPush   // the owner writes them
};

/// Whether an object may be replaced while it is read.
enum class ObjectConsistency {
  kStrict,   // a read commits only what is still the key's generation when it is confirmed
  kSnapshot  // the generation of the descriptor will do, also when it is not the present one by
             // then
};

/// Ranges of one read, at most (I8).
inline constexpr std::size_t kMaxObjectRanges = 65'536;
/// Pieces of the caller's memory that one read lands in, at most (I8).
inline constexpr std::size_t kMaxDestinationPieces = 16'384;

struct ReadObjectOptions {
  /// A constructor, because GCC 12 destroys braced aggregates twice in a co_await expression.
  ReadObjectOptions() {}

  /// Ascending, none empty, no byte twice, inside the object; none: all of it. Any bytes: what is
  /// read are the granules of 256 KiB that hold them, so that they can be verified.
  std::vector<ObjectRange> ranges;
  ObjectMode mode = ObjectMode::kAuto;
  ObjectConsistency consistency = ObjectConsistency::kStrict;
  Integrity integrity = Integrity::kXxh3;
  Duration deadline = std::chrono::seconds(60);
  CancelToken cancel;                    // pulling it ends the read, once it is quiescent
  bool retry_on_survivors = false;       // see ReadRequest::retry_on_survivors
  WhenFull when_full = WhenFull::kWait;  // as FetchOptions::when_full
  /// Which rail takes which slice: least_loaded, round_robin or locality, see make_schedule(). No
  /// node tells yet which NUMA node its rails are near, so that locality does as least_loaded.
  std::string scheduler{kLeastLoaded};
  /// Registered memory of the caller's own for the read to land in, without a copy: the ranges one
  /// after the other into these pieces one after the other, wherever each of them is; gaps between
  /// them are not written. None: the read lands in memory of the engine's.
  ///
  /// The pieces have exactly as many bytes as are asked for, and do not overlap; a piece ends, as a
  /// range begins and ends, on a multiple of 256 KiB from the beginning of the object or at its
  /// end. Else kInvalidArgument, as where the memory is not this node's, before anything is sent;
  /// likewise kClosed where it is being closed.
  ///
  /// Unless the read succeeds its content is unspecified, but from the return on nothing writes
  /// there any more (contract 7). Where a device hangs, so that this cannot be promised, the read
  /// does not return (contract 4), see NodeOptions::on_stuck. The pieces of the view that is
  /// returned are this memory, which the view does not keep.
  std::vector<DestinationPiece> destination;
  /// The caller's own memory, to get a copy of what was asked for when it is committed, one range
  /// after the other. Unless the read succeeds no byte of it is written, ever (contract 7). Large
  /// enough, else kInvalidArgument before anything is sent; valid and left alone until the read has
  /// returned. The view is returned as well. Not together with a destination: kInvalidArgument.
  std::optional<std::span<std::byte>> copy_on_commit;
};

}  // namespace corail
