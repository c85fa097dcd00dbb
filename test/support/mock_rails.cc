#include "test/support/mock_rails.h"

#include <fmt/core.h>

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
    : world_(world), holder_(net_, "holder") {
  CORAIL_CHECK(holder_.open(), "the address is free");
  const RailEndpoint endpoint = holder_.admit_session(SessionId(1), ChannelToken{}, gate);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    randoms_.push_back(std::make_unique<SeededRandom>(seed + i));
    auto transport =
        std::make_unique<MockTransport>(world_.executor(), world_.clock(), *randoms_.back(), net_,
                                        plans[i].options, plans[i].faults);
    transports_.push_back(transport.get());
    rails_.push_back(std::make_unique<Rail>(fmt::format("mock{}", i), world_.executor(),
                                            world_.clock(), std::move(transport), plans[i].window));
    const TimePoint deadline = world_.now() + std::chrono::seconds(10);
    const auto connected = world_.run(rails_.back()->connect(endpoint, deadline));
    CORAIL_CHECK(connected, "a mock rail connects");
  }
}

MockRails::~MockRails() {
  for (std::size_t i = 0; i < rails_.size(); ++i) {
    transports_[i]->unstick();
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
