#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/rail/slice.h"

namespace corail {

/// What a requester asks the owner of an object to write into its memory, over one channel of one
/// rail: one slice, once. Remote input for the owner (I5).
struct PushOrder {
  ReadContext context;
  /// Grows with each order of a channel and names the slice there: what ends it carries this number
  /// back. None is taken twice, so a repeated order writes nothing. Orders arrive in the order of
  /// their numbers; a door sees them in the order in which their bytes came from disks.
  std::uint64_t number = 0;
  /// Which channel of the door, as the door's transport names its channels.
  std::uint64_t channel = 0;
  std::uint64_t source_offset = 0;  // bytes, from the beginning of the object
  std::uint64_t length = 0;         // bytes, 1 to Capabilities::max_slice_bytes
  /// Where it lands in the requester's memory, and the key that lets it; 0 where the transport's
  /// receiver knows by the number.
  std::uint64_t address = 0;
  std::uint64_t write_key = 0;
  /// The memory that the key is for: the owner refuses a slice that is not inside (I4).
  std::uint64_t key_base = 0;
  std::uint64_t key_length = 0;
};

/// What the owner says once it has nothing more to send for an order.
struct PushReceipt {
  std::uint64_t bytes = 0;
  Duration disk{};  // wall time until the bytes were in memory
  Duration send{};  // from then until the transport had sent them
};

/// Carries a transport's push orders to the owner, and its answers back. Implemented over the
/// control connection; shared with the rails, which are closed before it goes. Rail's executor.
/// The one of an endpoint, which several rails may go to, only makes those of the rails.
class PushCourier {
 public:
  using Answered = std::function<void(Result<PushReceipt>)>;

  virtual ~PushCourier() = default;

  /// Never blocks, never calls back from within. `answered` is called once, on the rail's executor,
  /// also when the connection is lost: an error of the transport category means that nobody knows
  /// what the owner does. Every other answer, a no too, means that it writes nothing more for this
  /// order. There is no second try: the order is not sent again.
  virtual void order(PushOrder order, Answered answered) = 0;

  /// One that calls `answered` on this rail's executor; null: it does so by itself. Any thread.
  virtual std::shared_ptr<PushCourier> for_rail(const asio::any_io_executor& /*rail*/) {
    return nullptr;
  }
};

}  // namespace corail
