#include "test/support/mock_rails.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "engine/base/check.h"

namespace corail::test {
namespace {

Task<Result<void>> close_rail(Rail* rail) {
  auto closed = co_await rail->close();
  co_return closed;
}

}  // namespace

MockRails::MockRails(VirtualWorld& world, LeaseGate& gate, std::vector<RailPlan> plans,
                     std::uint64_t seed)
    : world_(world), holder_(net_, "holder"), transports_(plans.size()), made_(plans.size()) {
  CORAIL_CHECK(holder_.open(), "the address is free");
  const RailEndpoint endpoint = holder_.admit_session(SessionId(1), ChannelToken{}, gate);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    randoms_.push_back(std::make_unique<SeededRandom>(seed + i));
    rails_.push_back(make_rail(i, std::move(plans[i])));
    const TimePoint deadline = world_.now() + std::chrono::seconds(10);
    const auto connected = world_.run(rails_.back()->connect(endpoint, deadline));
    CORAIL_CHECK(connected, "a mock rail connects");
  }
}

std::unique_ptr<Transport> MockRails::make_link(std::size_t index, const RailPlan& plan) {
  const std::size_t generation = made_[index]++;
  FaultScript faults;
  if (generation == 0) {
    faults = plan.faults;
  } else if (generation <= plan.later.size()) {
    faults = plan.later[generation - 1];
  }
  auto link = std::make_unique<MockTransport>(world_.executor(), world_.clock(), *randoms_[index],
                                              net_, plan.options, std::move(faults));
  transports_[index] = link.get();
  if (plan.around) return plan.around(std::move(link));
  return link;
}

std::unique_ptr<Rail> MockRails::make_rail(std::size_t index, RailPlan plan) {
  std::string name = fmt::format("mock{}", index);
  if (!plan.rebuilt) {
    return std::make_unique<Rail>(std::move(name), world_.executor(), world_.clock(),
                                  make_link(index, plan), plan.window);
  }
  const RailWindow window = plan.window;
  RailOptions options = plan.rail_options;
  Rail::MakeTransport make = [this, index, plan = std::move(plan)] {
    return make_link(index, plan);
  };
  return std::make_unique<Rail>(std::move(name), world_.executor(), world_.clock(), std::move(make),
                                window, std::move(options));
}

MockRails::~MockRails() {
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    // Between two generations there is none.
    if (rails_[i]->status().state != RailState::kClosed) transports_[i]->unstick();
    CORAIL_CHECK(world_.run(close_rail(rails_[i].get())), "a mock rail that is not stuck closes");
  }
  // Handlers that the rails still have queued find them alive.
  world_.settle();
}

std::vector<Rail*> MockRails::rails() const {
  std::vector<Rail*> rails;
  for (const auto& rail : rails_) rails.push_back(rail.get());
  return rails;
}

}  // namespace corail::test
