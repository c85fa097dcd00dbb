#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>

#include "engine/base/ids.h"
#include "engine/rail/rail_door.h"
#include "engine/rail/tcp/data_frame.h"
#include "engine/rail/tcp/served_order.h"
#include "engine/rail/tcp/tcp_limits.h"

namespace corail {

/// The READs and orders that wait at the holder's end of a channel, and which of them is served
/// next. The reads of the requester take turns of equal bytes, headers included: deficit round
/// robin, where the last frame of a turn is sent whole and what is too much is taken off the read's
/// next turn. So a slice of a small read waits for little more than a turn of each other read, not
/// for the windows that those have asked for before it. Within a read the order is that of its
/// requests.
///
/// No socket in here. Owned by its channel; on the executor's thread. What it holds of a READ that
/// is being served, or of an order, is pinned until that has ended (I6).
class ServeQueue {
 public:
  struct Op {
    Request request;
    PinnedBytes bytes;      // once admitted
    bool admitted = false;  // the gate has said yes
    bool cancelled = false;
    std::uint64_t sent = 0;              // of the payload
    std::shared_ptr<ServedOrder> order;  // null: a READ
  };

  /// A turn is `turn_bytes` long, at least 1.
  explicit ServeQueue(std::uint64_t turn_bytes) : turn_bytes_(turn_bytes) {}

  /// READs and orders that have not ended. The caller bounds them (I8).
  std::size_t size() const noexcept { return size_; }

  /// Whether the next slice of a read is small, and whether that of one is not.
  bool any_small() const noexcept;
  bool any_large() const noexcept;

  /// A read that has nothing here yet comes after all others.
  void push(const Request& request);
  /// The same for an order, whose bytes are there already. What it says is in the request, as if it
  /// were a READ of its number.
  void push(const Request& request, PinnedBytes bytes, std::shared_ptr<ServedOrder> order);

  /// Marks the READs and orders that a CANCEL means: those of its read and epoch, or of all its
  /// read's epochs.
  void cancel(const Request& request) noexcept;

  /// Whose turn it is, or null when nothing waits. Stays the same until spend() or end().
  Op* current() noexcept;

  /// The current READ got a reply with so much payload, and goes on.
  void spend(std::uint64_t payload);
  /// The same, and it was its last reply: the READ is forgotten.
  void end(std::uint64_t payload);

  void clear() noexcept;

 private:
  struct Flow {
    ReadId read;
    EpochNumber epoch;  // reads under one lease differ in nothing else
    std::deque<Op> ops;
    std::uint64_t used = 0;  // of its turns; it has one while this is less than a turn

    bool small() const noexcept { return ops.front().request.length <= kSmallSliceBytes; }
  };

  Op& add(const Request& request);
  void charge(std::uint64_t payload);
  void next_turn();

  const std::uint64_t turn_bytes_;
  std::list<Flow> flows_;  // in the order of their turns, the first has it; none is empty
  std::size_t size_ = 0;
};

}  // namespace corail
