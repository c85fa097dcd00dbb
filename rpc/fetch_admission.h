#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/rail/rail_set.h"
#include "engine/read/cancel_token.h"
#include "engine/read/read_budget.h"
#include "rpc/options.h"

namespace corail {

/// The bounds on the bytes of running reads that concern one peer; null: no bound.
struct FetchBudgets {
  std::shared_ptr<ReadBudget> peer;
  std::shared_ptr<ReadBudget> node;  // shared by all peers of the node
};

/// As the node's options say. `clock` outlives the budget.
std::shared_ptr<ReadBudget> make_node_budget(asio::any_io_executor home, Clock& clock,
                                             const NodeOptions& options);
std::shared_ptr<ReadBudget> make_peer_budget(asio::any_io_executor home, Clock& clock,
                                             const NodeOptions& options,
                                             const std::string& peer_name);

/// One fetch's parts of the budgets, for as long as this lives.
///
/// They are asked for before the query, in full for every block that is asked for: a fetch that
/// waits must not hold a lease that runs out meanwhile. Once the answer is there, shrink() gives
/// back what a short prefix does not need. The peer's budget comes first, so that the reads that
/// wait for a slow peer take nothing of the node's.
///
/// Lives in the fetch's frame, on the home executor.
class FetchAdmission {
 public:
  /// The rails outlive it.
  FetchAdmission(FetchBudgets budgets, const RailSet& rails);

  /// Once only. Fails as ReadBudget::admit; a fetch that does not wait fails with kQuotaExceeded
  /// also where each of its rails has to wait for its port.
  Task<Result<void>> enter(std::uint64_t bytes, WhenFull when_full, TimePoint deadline,
                           CancelToken cancel);
  void shrink(std::uint64_t bytes);

 private:
  Result<void> check_ports() const;

  const FetchBudgets budgets_;
  const RailSet& rails_;
  ReadBudget::Share peer_;
  ReadBudget::Share node_;
};

}  // namespace corail
