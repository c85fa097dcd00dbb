#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "engine/base/clock.h"
#include "rpc/connected_peer.h"
#include "test/sim/faulty_stream.h"
#include "test/sim/frame_tap.h"
#include "test/sim/model.h"

namespace corail::sim {

/// One control connection from a requester to a holder, with everything that hangs on it. Kept
/// until the end of the seed: its streams refer to it.
struct Link {
  std::size_t number = 0;
  std::size_t node = 0;
  std::size_t holder = 0;
  StreamFaults faults;
  std::function<void()> cut;
  std::shared_ptr<ConnectedPeer> peer;  // once connected
  std::uint64_t next_read = 1;          // as the peer numbers them
  bool must_verify = false;  // its rails or its stream may hand over wrong bytes: checksums it is
  bool connected = false;    // from when its rails are open
  bool retired = false;      // being closed, or closed
};

/// What the model hears of one control connection: when queries reached the holder, when
/// confirmations were sent, and how many bytes that took (I9, I10). Shared by the ends of the
/// connection.
class LinkEars {
 public:
  LinkEars(Model& model, std::size_t link, Duration keep_alive, const Clock& clock);

  /// What the requester's end and the holder's end are to tell.
  StreamEars requester();
  StreamEars holder();
  /// Bounds what the connection has cost so far.
  void check_bytes();

 private:
  void on_sent(const FrameHeader& header, std::span<const std::byte> body);
  void on_received(const FrameHeader& header, std::span<const std::byte> body);
  void on_query(std::span<const std::byte> body, std::uint64_t call);
  void on_answered(const FrameHeader& header, std::span<const std::byte> body);
  std::uint64_t runs_of(const FetchRecord& fetch) const;

  Model& model_;
  const std::size_t link_;
  const Duration keep_alive_;
  const Clock& clock_;
  FrameTap sent_;                                  // by the requester
  FrameTap received_;                              // by the holder
  FrameTap answered_;                              // by the holder
  std::map<std::uint64_t, FetchRecord*> queries_;  // by call
};

}  // namespace corail::sim
