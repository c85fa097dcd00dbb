#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
  std::size_t wire = 0;                 // as in LinkRecord
  StreamFaults faults;                  // of the connection that it has dialed
  std::function<void()> cut;            // of the connection that it uses
  std::shared_ptr<ConnectedPeer> peer;  // once connected
  std::uint64_t next_read = 1;          // as the peer numbers them
  bool must_verify = false;  // its rails or its stream may hand over wrong bytes: checksums it is
  bool connected = false;    // from when its rails are open
  bool retired = false;      // being closed, or closed
};

/// What the model hears of one direction of a control connection, from a requester to a holder:
/// when queries reached the holder, when confirmations were sent, and what that may cost (I9, I10).
class LinkEars {
 public:
  /// Says for which link the requester opens rails right now.
  using Opening = std::function<std::size_t()>;

  /// Link after link may come to use the direction; each begins with its rails.
  LinkEars(Model& model, std::size_t wire, Opening opening);

  /// What the requester has written; what the holder has read and written.
  void sent(std::span<const std::byte> bytes) { sent_.feed(bytes); }
  void received(std::span<const std::byte> bytes) { received_.feed(bytes); }
  void answered(std::span<const std::byte> bytes) { answered_.feed(bytes); }

  std::uint64_t bytes() const noexcept { return sent_.bytes() + answered_.bytes(); }
  /// How many links have used it.
  std::uint64_t links() const noexcept { return links_; }

 private:
  void on_sent(const FrameHeader& header, std::span<const std::byte> body);
  void on_received(const FrameHeader& header, std::span<const std::byte> body);
  void on_query(std::span<const std::byte> body, std::uint64_t call);
  void on_answered(const FrameHeader& header, std::span<const std::byte> body);
  std::uint64_t runs_of(const FetchRecord& fetch) const;

  Model& model_;
  const std::size_t wire_;
  const Opening opening_;
  std::optional<std::size_t> sender_;            // the link that calls, at the requester's end
  std::optional<std::size_t> receiver_;          // and as far as the holder has heard
  std::map<std::uint64_t, std::size_t> opened_;  // by the call that opened its rails
  std::uint64_t links_ = 0;
  FrameTap sent_;                                  // by the requester
  FrameTap received_;                              // by the holder
  FrameTap answered_;                              // by the holder
  std::map<std::uint64_t, FetchRecord*> queries_;  // by call
};

/// Both directions of one control connection. Shared by its ends.
class WireEars {
 public:
  /// `wire`: the link that has dialed it. `there` tells of the node that has dialed, `back` of the
  /// one that has accepted.
  WireEars(Model& model, std::size_t wire, Duration keep_alive, LinkEars::Opening there,
           LinkEars::Opening back);

  /// What the end that dialed and the end that accepted are to tell.
  StreamEars dialed();
  StreamEars accepted();

 private:
  /// Bounds what the connection has cost so far.
  void check_bytes();

  Model& model_;
  const std::size_t wire_;
  const Duration keep_alive_;
  LinkEars there_;  // calls of the side that dialed
  LinkEars back_;   // calls of the side that accepted
};

}  // namespace corail::sim
