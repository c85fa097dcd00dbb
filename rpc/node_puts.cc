#include "rpc/node_puts.h"

#include <utility>

namespace corail {
namespace {

/// One for what is written to others, one for what others write.
std::shared_ptr<ReadBudget> make_put_budget(const NodePuts::Surroundings& of) {
  BudgetFacts facts{"the node's budget of puts", "put_bytes", of.options.put_bytes};
  return std::make_shared<ReadBudget>(of.home, of.clock, std::move(facts));
}

}  // namespace

NodePuts::NodePuts(Surroundings surroundings, LeaseGate* held)
    : surroundings_(std::move(surroundings)),
      sources_(surroundings_.registry, surroundings_.registrars, surroundings_.options.put_bytes),
      parts_{sources_, make_put_budget(surroundings_), surroundings_.random},
      gate_(sources_, held) {}

void NodePuts::take_into(ObjectStore& store, ReversePeers& reverse) {
  home_ = std::make_unique<PutHome>(PutHome{surroundings_.home, surroundings_.clock, store, reverse,
                                            make_put_budget(surroundings_),
                                            surroundings_.options.lease_ttl});
}

}  // namespace corail
