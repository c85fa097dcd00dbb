#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "rpc/connected_peer.h"
#include "test/sim/faulty_stream.h"
#include "test/sim/frame_tap.h"
#include "test/sim/objects/model.h"

namespace corail::sim {

/// One connection of the user to the holder, with everything that hangs on it. Kept until the end
/// of the seed: its streams refer to it.
struct ObjectLink {
  std::size_t number = 0;
  /// Which one's connection it uses: its own as a rule, or an earlier one's that the holder still
  /// pulls over.
  ObjectLink* wire = nullptr;
  StreamFaults faults;                  // of the connection that it has dialed
  std::function<void()> cut;            // likewise
  std::shared_ptr<ConnectedPeer> peer;  // once connected
  std::uint64_t next_read = 1;          // as the peer numbers them
  bool must_verify = false;             // its rails may hand over wrong bytes
  bool connected = false;               // from when its rails are open
  bool retired = false;                 // being closed, or closed
};

/// What the model hears of the calls over one control connection, as the user sends them and as the
/// holder has read them: which leases there are, and until when, and when they were confirmed (I9).
class LeaseEars {
 public:
  /// Says for which link rails are opened right now.
  using Opening = std::function<ObjectLink*()>;

  /// `wire`: the link that has dialed the connection. Link after link may come to use it; each
  /// begins with its rails.
  LeaseEars(ObjectModel& model, ObjectLink& wire, Opening opening);
  LeaseEars(const LeaseEars&) = delete;
  LeaseEars& operator=(const LeaseEars&) = delete;

  /// For the user's end, and for the holder's.
  StreamEars sending();
  StreamEars receiving();

 private:
  void on_sent(const FrameHeader& header, std::span<const std::byte> body);
  void on_received(const FrameHeader& header, std::span<const std::byte> body);

  ObjectModel& model_;
  ObjectLink& wire_;
  const Opening opening_;
  ObjectLink* sender_ = nullptr;                 // who calls, at the user's end
  ObjectLink* receiver_ = nullptr;               // and as far as the holder has heard
  std::map<std::uint64_t, ObjectLink*> opened_;  // by the call that opened its rails
  FrameTap sent_;
  FrameTap received_;
};

}  // namespace corail::sim
