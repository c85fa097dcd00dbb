#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/ids.h"
#include "engine/base/result.h"

namespace corail {

/// What one work request moves: contiguous at both ends, inside one region at each (I4).
struct Slice {
  RegionId region;                   // the holder's
  std::uint64_t remote_offset = 0;   // bytes from the region's base
  std::uint64_t remote_key = 0;      // the region's key for the rail's remote port; 0 for tcp
  std::byte* destination = nullptr;  // kept alive by the poster's pin until the outcome (I6)
  std::uint64_t length = 0;          // bytes, 1 to Capabilities::max_slice_bytes
  std::uint64_t tag = 0;             // the poster's own; unique among its posted slices
  /// Of a read whose time is that of its round trips, not of its bytes: a transport may put it
  /// before others.
  bool of_small_read = false;
  /// The owner of an object writes it, when it is asked to (PushCourier). Then `remote_offset`
  /// counts from the beginning of the object, and region and key mean nothing.
  bool pushed = false;
};

struct PushReceipt;

/// On whose behalf slices are posted: the holder serves them only inside the live lease of this
/// read in this session. Reads of parts of one lease have its id in common, and differ in epoch.
struct ReadContext {
  ReadId read;
  EpochNumber epoch;

  friend bool operator==(const ReadContext&, const ReadContext&) = default;
};

/// Receives what becomes of posted slices. Owned by the poster, used on the port's executor only,
/// and must live until every posted slice has had its outcome.
class SliceSink {
 public:
  virtual ~SliceSink() = default;

  /// Bytes [from, to) of the slice are in the destination, while probably still in the cache. In
  /// ascending order without gaps, within one slice; between slices in any order. Only transports
  /// whose capabilities say `reports_landing` call it; the outcome of a slice comes after its last
  /// landing.
  virtual void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept = 0;

  /// What the owner says of a pushed slice that it has sent; the outcome comes later.
  virtual void on_receipt(const Slice& /*slice*/, const PushReceipt& /*receipt*/) noexcept {}

  /// The one and last word about a slice: from here on nothing writes into its destination. A
  /// success means that all its bytes have landed. kFlushed: given up by a fence, not a fault of
  /// the rail. kLeaseExpired, kRefused: the holder's answer. kProtocol: the holder does not speak
  /// as agreed, which no other path mends. kRailFailed, kConnectionLost: the path's fault. Never
  /// called from within Transport::post.
  virtual void on_outcome(const Slice& slice, Result<void> outcome) noexcept = 0;
};

}  // namespace corail
