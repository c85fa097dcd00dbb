#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace corail {

/// Rails of one node that may be connecting at once (I8): more would only make the handshakes of
/// all of them slow, up to where they expire.
inline constexpr std::size_t kMaxConnects = 16;

/// Bounds how many rails of a node connect at the same time. First come, first served; whoever
/// waits may leave. Shared by the rails of a node, on whatever executors they are: thread-safe,
/// never blocks. Outlives its turns.
class ConnectLimit {
 public:
  explicit ConnectLimit(std::size_t most = kMaxConnects) : free_(most) {}

  /// A place in the queue or, later, among those that connect. Gives it back when it goes; after
  /// that `begin` neither runs nor will run.
  class Turn;

  /// `begin` is called once the turn has come: on any thread, perhaps from within this call. It
  /// must do no more than post, and not come back in here.
  std::unique_ptr<Turn> ask(std::function<void()> begin);

  /// For tests and reports.
  std::size_t connecting() const;

 private:
  mutable std::mutex mutex_;
  std::size_t free_;
  std::size_t busy_ = 0;
  std::list<Turn*> waiting_;
};

class ConnectLimit::Turn {
 public:
  Turn(ConnectLimit& limit, std::function<void()> begin)
      : limit_(limit), begin_(std::move(begin)) {}
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  friend class ConnectLimit;

  ConnectLimit& limit_;
  std::function<void()> begin_;
  bool begun_ = false;
};

}  // namespace corail
