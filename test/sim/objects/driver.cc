#include "test/sim/objects/driver.h"

#include <fmt/core.h>

#include <utility>

#include "engine/base/check.h"
#include "engine/exec/sleep.h"
#include "test/sim/scenario.h"

namespace corail::sim {
namespace {

using std::chrono::milliseconds;

constexpr Duration kAmpleTime = std::chrono::seconds(30);
constexpr Duration kShortTime = milliseconds(60);
/// A cancel comes this soon, or later than most calls take.
constexpr Duration kSoonCancelled = milliseconds(8);
constexpr Duration kCancelWithin = milliseconds(40);

bool may_always_be(Errc code) {
  return code == Errc::kNotFound || code == Errc::kGenerationChanged || code == Errc::kStripeLost;
}

}  // namespace

ObjectDriver::ObjectDriver(const ObjectSetup& setup)
    : setup_(setup),
      random_(setup.random),
      scope_(setup.world.executor()),
      janitors_(setup.world.executor()) {
  setup_.disk.take_turns(setup_.scenario.disk_turns);
}

Task<bool> ObjectDriver::start() {
  user_ = std::make_unique<ObjectNode>(setup_, kUser);
  auto opened = co_await user_->start();
  CORAIL_CHECK(opened, "mock doors open");
  janitors_.spawn(janitor());
  co_await revive();
  for (std::uint32_t i = 0; i < setup_.scenario.writers; ++i) scope_.spawn(writer());
  for (std::uint32_t i = 0; i < setup_.scenario.readers; ++i) scope_.spawn(reader());
  if (setup_.scenario.mishaps > 0) scope_.spawn(mischief());
  co_return true;
}

Task<void> ObjectDriver::sleep(Duration time) {
  const auto timer = setup_.world.clock().make_timer(setup_.world.executor());
  const TimePoint until = setup_.world.now() + time;
  co_await sleep_until(*timer, until);
}

Task<void> ObjectDriver::pause() {
  const Duration time = draw_time(random_, setup_.scenario.pause);
  co_await sleep(time);
}

TimePoint ObjectDriver::draw_deadline() {
  const bool hurried = draw_chance(random_, setup_.scenario.short_deadlines);
  const Duration time = hurried ? Duration(1) + draw_time(random_, kShortTime) : kAmpleTime;
  return setup_.world.now() + time;
}

/// The canceller and the record of when outlive the call that the token is for.
CancelToken ObjectDriver::cancel_some_time(std::unique_ptr<Timer>& canceller,
                                           std::optional<TimePoint>& cancelled, std::string what) {
  CancelToken token;
  canceller = setup_.world.clock().make_timer(setup_.world.executor());
  if (!draw_chance(random_, setup_.scenario.cancels)) return token;
  const Duration within = draw_chance(random_, 60) ? kSoonCancelled : kCancelWithin;
  const TimePoint when = setup_.world.now() + draw_time(random_, within);
  const bool deaf = setup_.plant == Plant::kDeafCancel;
  canceller->wait_until(
      when, [this, &cancelled, token, deaf, what = std::move(what)](bool expired) mutable {
        if (!expired) return;
        setup_.model.journal().event("{} is cancelled", what);
        cancelled = setup_.world.now();
        if (!deaf) token.cancel();
      });
  return token;
}

void ObjectDriver::count_failure(const Error& error, ObjectLink& link) {
  ++counts_.failures[std::string(to_string(error.code()))];
  if (setup_.scenario.calm && !may_always_be(error.code())) {
    setup_.model.journal().violate(
        8, fmt::format("nothing goes wrong here, and a call failed: {}", error.to_string()));
  }
  const bool lost = error.error_class() == ErrorClass::kTransport || error.code() == Errc::kStuck ||
                    error.code() == Errc::kClosed;
  if (lost && !link.retired && draw_chance(random_, 80)) retire(link);
}

void ObjectDriver::observe() {
  if (holder_up_) holders_.back()->observe();
}

void ObjectDriver::check_memory() {
  for (const auto& [view, held] : held_) setup_.model.check_view(*held.read, *view);
  for (const auto& copy : left_alone_) {
    const std::uint64_t changed = copy->canary->changed_bytes();
    if (changed == 0) continue;
    setup_.model.journal().violate(
        1, fmt::format("{} bytes of the memory for the copy of read {} were written, and it failed",
                       changed, copy->read));
  }
}

}  // namespace corail::sim
