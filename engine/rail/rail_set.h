#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/rail/port.h"
#include "engine/rail/rail.h"
#include "engine/rail/rail_endpoint.h"

namespace corail {

/// All rails to one peer. The rails belong to their ports' executors, the set to the peer's home
/// executor.
///
/// Owned by the peer; the ports outlive it. close() must have been awaited before destruction, and
/// no read may run by then.
class RailSet {
 public:
  RailSet() = default;
  ~RailSet();
  RailSet(const RailSet&) = delete;
  RailSet& operator=(const RailSet&) = delete;

  /// Opens a rail for every pair of ports. Pairs are made by index modulo, so that every port of
  /// both sides is used although their numbers differ. All connect at once, and one that succeeds
  /// is enough: those that fail go on to connect, and their status says why they are down. Where
  /// all fail they are closed, and the first error is returned, with what befell each. Fails with
  /// kIncompatible, before any connects, where the ports of a pair are of different transports.
  /// From its success on, a rail that is lost is rebuilt. Once only.
  Task<Result<void>> open(std::span<const std::unique_ptr<Port>> ports,
                          std::vector<RailEndpoint> remotes, RailWindow window, RailOptions options,
                          TimePoint deadline);

  std::span<const std::unique_ptr<Rail>> rails() const noexcept { return rails_; }
  std::vector<std::string> names() const;
  /// Which of the peer's endpoints the rail goes to, by index.
  std::size_t remote_of(std::size_t rail) const noexcept { return rail % remotes_; }

  /// The most bytes of one slice that every rail takes that has been connected; 0 without such.
  std::uint64_t max_slice_bytes() const noexcept;

  /// Closes each rail and destroys it, on its own executor. A rail whose device hangs is waited for
  /// no longer than kRailCloseTime, and then kept for ever (see retire()). Idempotent.
  Task<void> close();

 private:
  /// What open() returns, of what its rails did.
  Result<void> judge(const std::vector<Result<void>>& connects) const;

  std::size_t remotes_ = 1;  // the peer's endpoints
  std::vector<std::unique_ptr<Rail>> rails_;
};

}  // namespace corail
