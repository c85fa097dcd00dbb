#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engine/verbs/completion.h"

namespace corail {

/// Which requests of one queue pair are posted and have no outcome yet. Pure; one thread.
///
/// Only some requests ask for a completion of their own when they succeed (selective signalling).
/// A reliable queue pair completes in order and every failed or flushed request makes a completion,
/// asked for or not; so a completion says of those posted before it, which said nothing, that they
/// succeeded.
class SendQueueAccount {
 public:
  /// Successes without a completion of their own in a row, at most: more would hold back outcomes,
  /// and their places in the queue.
  static constexpr std::uint32_t kMaxSilent = 8;

  /// Whether the next request must ask for a completion. `last`: no other is posted right behind
  /// it, so that nobody else would tell of it.
  bool must_signal(bool last) const noexcept { return last || silent_ + 1 >= kMaxSilent; }

  void posted(std::uint64_t request, bool signalled);

  /// The device would not take it: the one that was posted last.
  void refused(std::uint64_t request);

  /// What the completion ends, oldest first: silent ones with success, the last with its own
  /// status. Nothing where it is of none that is posted: late, repeated or invented.
  struct Ended {
    std::vector<std::uint64_t> succeeded;
    std::uint64_t own = 0;
  };
  std::optional<Ended> completed(const Completion& completion);

  /// All that is left, oldest first: the queue pair was destroyed, and tells nothing more.
  std::vector<std::uint64_t> abandon();

  std::size_t outstanding() const noexcept { return posted_.size(); }

 private:
  std::deque<std::uint64_t> posted_;  // at most as long as the queue
  std::uint32_t silent_ = 0;          // posted last, in a row
};

}  // namespace corail
