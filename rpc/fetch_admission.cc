#include "rpc/fetch_admission.h"

#include <fmt/core.h>

#include <string>
#include <utility>

namespace corail {

std::shared_ptr<ReadBudget> make_node_budget(asio::any_io_executor home, Clock& clock,
                                             const NodeOptions& options) {
  BudgetFacts facts{"the node's budget", "node_budget_bytes", options.node_budget_bytes};
  return std::make_shared<ReadBudget>(std::move(home), clock, std::move(facts));
}

std::shared_ptr<ReadBudget> make_peer_budget(asio::any_io_executor home, Clock& clock,
                                             const NodeOptions& options,
                                             const std::string& peer_name) {
  BudgetFacts facts{"the budget of " + peer_name, "peer_budget_bytes", options.peer_budget_bytes};
  return std::make_shared<ReadBudget>(std::move(home), clock, std::move(facts));
}

FetchAdmission::FetchAdmission(FetchBudgets budgets, const RailSet& rails)
    : budgets_(std::move(budgets)), rails_(rails) {}

Task<Result<void>> FetchAdmission::enter(std::uint64_t bytes, WhenFull when_full,
                                         TimePoint deadline, CancelToken cancel) {
  if (when_full == WhenFull::kRefuse) {
    auto room = check_ports();
    if (!room) co_return room;
  }
  if (budgets_.peer) {
    auto share = co_await budgets_.peer->admit(bytes, when_full, deadline, cancel);
    if (!share) co_return std::move(share).error();
    peer_ = std::move(*share);
  }
  if (budgets_.node) {
    auto share = co_await budgets_.node->admit(bytes, when_full, deadline, cancel);
    if (!share) co_return std::move(share).error();
    node_ = std::move(*share);
  }
  co_return ok_result();
}

void FetchAdmission::shrink(std::uint64_t bytes) {
  peer_.shrink(bytes);
  node_.shrink(bytes);
}

Result<void> FetchAdmission::check_ports() const {
  std::string full;
  for (const auto& rail : rails_.rails()) {
    // One that is down is no way out; that none is ready is told by who starts the read.
    if (rail->status().state != RailState::kReady) continue;
    const auto& budget = rail->port_budget();
    if (budget == nullptr || !budget->crowded()) return ok_result();
    full += fmt::format("{}{} ({} of {} bytes)", full.empty() ? "" : ", ", rail->name(),
                        budget->in_use(), budget->bytes());
  }
  if (full.empty()) return ok_result();
  return Error(
      Errc::kQuotaExceeded, Stage::kSubmit,
      fmt::format("no room: all ports have as much posted as they may, {}; run fewer reads "
                  "at a time, or raise port_budget_bytes",
                  full));
}

}  // namespace corail
