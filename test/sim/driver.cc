#include "test/sim/driver.h"

#include "engine/exec/sleep.h"

namespace corail::sim {

Driver::Driver(SimSetup setup, std::vector<std::unique_ptr<SimNode>>& nodes)
    : setup_(setup), random_(setup.random), nodes_(nodes), scope_(setup.world.executor()) {}

void Driver::start() {
  const Scenario& scenario = setup_.scenario;
  for (const auto& node : nodes_) {
    scope_.spawn(saver(node.get()));
    if (scenario.shared_sessions) scope_.spawn(connect(node.get()));
    for (std::uint32_t i = 0; i < scenario.readers; ++i) scope_.spawn(reader(node.get()));
    if (scenario.mishaps > 0) scope_.spawn(mischief(node.get()));
  }
}

Task<void> Driver::sleep(Duration time) {
  const auto timer = setup_.world.clock().make_timer(setup_.world.executor());
  const TimePoint until = setup_.world.now() + time;
  co_await sleep_until(*timer, until);
}

Task<void> Driver::pause() {
  const Duration time = draw_time(random_, setup_.scenario.pause);
  co_await sleep(time);
}

void Driver::check_views() {
  for (const auto& [view, held] : held_) setup_.model.check_view(*held.fetch, *view);
}

}  // namespace corail::sim
