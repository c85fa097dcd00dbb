#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace corail {

/// How many rails of one node may be connecting at once (I8). A value.
struct ConnectLimits {
  ConnectLimits() {}

  /// More would only make the handshakes of all of them slow, up to where they expire.
  std::size_t most = 16;
  /// Of the rails to one peer: one that is dead takes no more than these from the others.
  std::size_t per_peer = 4;
  /// Of the rails whose last connect failed, over all peers: however many peers are dead, whoever
  /// connects for the first time, or comes back, finds a turn.
  std::size_t retrying = 8;
};

/// Who asks for a turn.
struct ConnectRequest {
  std::uint64_t peer = 0;      // as ConnectLimit::add_peer() numbers them
  bool failed_before = false;  // the rail's last connect
};

/// Bounds how many rails of a node connect at the same time. First come, first served among those
/// that the limits let through; whoever waits may leave, and keeps his place as long as he does
/// not. Shared by the rails of a node, on whatever executors they are: thread-safe, never blocks.
/// Outlives its turns.
class ConnectLimit {
 public:
  explicit ConnectLimit(ConnectLimits limits = ConnectLimits()) : limits_(limits) {}

  /// A place in the queue or, later, among those that connect. Gives it back when it goes; after
  /// that `begin` neither runs nor will run.
  class Turn;

  /// A number for one more peer, never 0.
  std::uint64_t add_peer();

  /// `begin` is called once the turn has come: on any thread, perhaps from within this call. It
  /// must do no more than post, and not come back in here.
  std::unique_ptr<Turn> ask(ConnectRequest who, std::function<void()> begin);

  /// For tests and reports.
  std::size_t connecting() const;

 private:
  bool may_begin(const ConnectRequest& who) const;
  void begin(Turn& turn);
  void begin_those_that_may();

  const ConnectLimits limits_;
  mutable std::mutex mutex_;
  std::size_t busy_ = 0;
  std::size_t retrying_ = 0;
  std::map<std::uint64_t, std::size_t> busy_by_peer_;  // of those that have any
  std::list<Turn*> waiting_;
  std::uint64_t peers_ = 0;
};

class ConnectLimit::Turn {
 public:
  Turn(ConnectLimit& limit, ConnectRequest who, std::function<void()> begin)
      : limit_(limit), who_(who), begin_(std::move(begin)) {}
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  friend class ConnectLimit;

  ConnectLimit& limit_;
  const ConnectRequest who_;
  std::function<void()> begin_;
  bool begun_ = false;
};

}  // namespace corail
