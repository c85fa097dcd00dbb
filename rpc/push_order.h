#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/memory/pin.h"
#include "engine/memory/slab_pool.h"
#include "engine/object/striping_info.h"
#include "rpc/push_service.h"

namespace corail {

/// A read that orders may be for. Doors ask on their own threads whether it was stopped.
struct PushService::Read {
  explicit Read(const asio::any_io_executor& executor) : idle(executor) {}

  std::shared_ptr<const StripingInfo> info;
  bool in_memory = false;
  std::atomic<bool> stopped{false};
  std::uint32_t at_door = 0;  // orders that a door may be writing
  bool waited_for = false;
  Event idle;
};

struct PushService::Order {
  explicit Order(const asio::any_io_executor& executor) : ended(executor) {}
  bool is_stopped() const noexcept { return read->stopped || abandoned; }
  /// False: nothing is written for it, now or later, whatever a disk still does.
  bool may_write() const noexcept { return at_door || !is_stopped(); }

  ReadStripesRequest request;
  std::shared_ptr<Read> read;
  LeaseId lease;
  PinnedBytes bytes;
  SlabChunk buffer;  // that the bytes are in, if they were staged
  bool holds_share = false;
  Duration disk{};
  std::atomic<bool> abandoned{false};
  bool at_door = false;
  std::optional<Result<PushReceipt>> outcome;
  Event ended;  // the handler waits
};

/// While a door may be writing what was ordered.
class PushService::AtDoor {
 public:
  explicit AtDoor(Order& order) : order_(order) {
    order_.at_door = true;
    ++order_.read->at_door;
  }
  ~AtDoor() {
    order_.at_door = false;
    if (--order_.read->at_door == 0) order_.read->idle.notify();
  }
  AtDoor(const AtDoor&) = delete;
  AtDoor& operator=(const AtDoor&) = delete;

 private:
  Order& order_;
};

inline Error order_given_up() {
  return Error(Errc::kCancelled, Stage::kServe, "the read was given up, or has ended");
}

}  // namespace corail
