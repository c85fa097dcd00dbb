#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/read/cancel_token.h"
#include "engine/read/when_full.h"

namespace corail {

/// Reads that may wait for one budget (I8).
inline constexpr std::size_t kMaxBudgetWaiters = 1024;

/// What a budget is, in the words of whoever set it.
struct BudgetFacts {
  std::string name;         // "the budget of a peer"
  std::string option;       // "peer_budget_bytes"
  std::uint64_t bytes = 0;  // 0: no bound
};

/// A bound on the bytes of the reads that are admitted and have not ended. First come, first
/// served: a large read is not overtaken for ever by small ones. A read that is larger than the
/// whole budget is admitted when no other one is, so that it takes its turn instead of never being
/// possible; then it is alone.
///
/// Home executor only. Shared by whoever admits reads; each share that was given out keeps it.
class ReadBudget : public std::enable_shared_from_this<ReadBudget> {
 public:
  /// `clock` outlives every use.
  ReadBudget(asio::any_io_executor home, Clock& clock, BudgetFacts facts,
             std::size_t max_waiters = kMaxBudgetWaiters);
  ReadBudget(const ReadBudget&) = delete;
  ReadBudget& operator=(const ReadBudget&) = delete;

  /// The part of one read: given back when it goes. Move-only; the default one is of nothing.
  class Share;

  /// Takes `bytes` for a read, after waiting for room where that is wished for. Fails with
  /// kQuotaExceeded (no room, and the read does not wait), kBusy (too many wait already), kDeadline
  /// or kCancelled (while it waited). A read that leaves the queue leaves nothing behind.
  Task<Result<Share>> admit(std::uint64_t bytes, WhenFull when_full, TimePoint deadline,
                            CancelToken cancel);

  std::uint64_t in_use() const noexcept { return in_use_; }
  std::size_t reads() const noexcept { return reads_; }
  std::size_t waiting() const noexcept { return waiters_.size(); }

 private:
  struct Waiter;

  bool has_room(std::uint64_t bytes) const noexcept;
  Share take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);
  void serve_waiters();
  void leave(const std::shared_ptr<Waiter>& waiter, Error why);
  Error refusal(Errc code, std::uint64_t bytes, const char* what_happened) const;

  const asio::any_io_executor home_;
  Clock& clock_;
  const BudgetFacts facts_;
  const std::size_t max_waiters_;
  std::uint64_t in_use_ = 0;
  std::size_t reads_ = 0;
  std::list<std::shared_ptr<Waiter>> waiters_;
};

class ReadBudget::Share {
 public:
  Share() = default;
  Share(Share&& other) noexcept;
  Share& operator=(Share&& other) noexcept;
  ~Share() { reset(); }

  /// The read needs no more than `bytes` after all. Never takes more.
  void shrink(std::uint64_t bytes);
  void reset();

 private:
  friend class ReadBudget;
  Share(std::shared_ptr<ReadBudget> budget, std::uint64_t bytes)
      : budget_(std::move(budget)), bytes_(bytes) {}

  std::shared_ptr<ReadBudget> budget_;
  std::uint64_t bytes_ = 0;
};

}  // namespace corail
