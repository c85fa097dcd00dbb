#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "engine/base/units.h"

namespace corail {

/// Eight full windows of the default size: what a port of 25 Gb/s moves in a third of a second,
/// which is within the quarter of a fence deadline that a cancel may have to wait (contract 3), and
/// more than any network path has under way.
inline constexpr std::uint64_t kDefaultPortBudgetBytes = kGiB;

/// A bound on the bytes that all rails of one port have posted and that have not landed: each rail
/// has a window of its own, but many holders may send into one NIC. Rails that find no room get it
/// in the order in which they asked, a slice at a time, so that none waits for ever.
///
/// Shared by the port's rails, on the port's executor (I7), but for what says otherwise.
class PortBudget {
 public:
  /// `bytes` 0: no bound.
  explicit PortBudget(std::uint64_t bytes) : bytes_(bytes) {}
  PortBudget(const PortBudget&) = delete;
  PortBudget& operator=(const PortBudget&) = delete;

  /// A rail's account.
  class Place;

  /// Any thread.
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint64_t in_use() const noexcept { return in_use_.load(std::memory_order_relaxed); }
  /// Any thread: whether rails wait for room.
  bool crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }

 private:
  bool has_room(std::uint64_t bytes) const noexcept;
  void take(std::uint64_t bytes) noexcept;
  void give_back(std::uint64_t bytes);
  void serve_waiting();

  const std::uint64_t bytes_;
  // Written by the port's thread only; others look.
  std::atomic<std::uint64_t> in_use_{0};
  std::atomic<bool> crowded_{false};
  std::list<Place*> waiting_;  // at most the port's rails
};

/// Belongs to the rail and goes before it.
class PortBudget::Place {
 public:
  /// Without a budget there is always room. `wake` is called once bytes that were asked for in vain
  /// are reserved, from within a call of some other rail: it must do no more than post.
  Place(std::shared_ptr<PortBudget> budget, std::function<void()> wake);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// The longest slice that can ever have room.
  std::uint64_t most() const noexcept;

  /// Reserves room for a slice of at most `bytes` (1 to most()), unless it is reserved already.
  /// False: the rail is in the queue, and there is nothing to be posted until `wake`.
  bool reserve(std::uint64_t bytes);
  bool waiting() const noexcept { return waiting_; }
  /// A slice of `bytes` was posted; what it leaves of the reservation goes to the others.
  void posted(std::uint64_t bytes);
  /// A posted slice has had its outcome, or is waited for no more.
  void ended(std::uint64_t bytes);
  /// Nothing more is to be posted now: a reservation that is left goes to the others.
  void settle();

  const std::shared_ptr<PortBudget>& budget() const noexcept { return budget_; }

 private:
  friend class PortBudget;

  const std::shared_ptr<PortBudget> budget_;
  const std::function<void()> wake_;
  bool waiting_ = false;
  std::uint64_t wanted_ = 0;  // while waiting
  std::uint64_t reserved_ = 0;
  std::uint64_t posted_ = 0;
};

}  // namespace corail
