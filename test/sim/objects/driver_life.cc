// What befalls the holder: cut cables, failing disks, death; and how a seed ends.
#include <fmt/core.h>

#include <utility>

#include "test/sim/objects/driver.h"
#include "test/sim/scenario.h"

namespace corail::sim {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t kMishaps = 6;  // at most
constexpr Duration kBetweenMishaps = milliseconds(30);
/// How many calls of a disk from now one fails, at most.
constexpr std::uint64_t kSoon = 12;
/// Of a hundred starts, in how many a call of a disk fails.
constexpr std::uint32_t kBadStarts = 20;
constexpr std::uint64_t kRoomLeft = 300 * kKiB;  // of a disk that is about to be full
constexpr std::uint64_t kEndless = ~std::uint64_t{0};
/// By when devices that hang while the holder pulls come back.
constexpr Duration kUnsticking = milliseconds(60);
/// By then the holder has noticed that the user is gone.
constexpr Duration kFarewell = milliseconds(500);

}  // namespace

Task<void> ObjectDriver::mischief() {
  for (std::uint32_t i = 0; i < kMishaps; ++i) {
    const Duration wait = draw_time(random_, kBetweenMishaps);
    co_await sleep(wait);
    if (!draw_chance(random_, setup_.scenario.mishaps)) continue;
    if (draw_chance(random_, setup_.scenario.disk_faults)) break_disk();
    const bool dies = draw_chance(random_, setup_.scenario.deaths);
    if (dies) {
      co_await die_and_return();
    } else {
      break_link(random_.below(3));
    }
  }
}

void ObjectDriver::break_link(std::uint64_t kind) {
  ObjectLink* const link = current_;
  if (link == nullptr) return;
  setup_.model.journal().event("mishap {} befalls link {}", kind, link->number);
  if (kind == 0) link->wire->cut();
  if (kind == 1) link->wire->faults.silent_from = setup_.world.now();
  if (kind == 2) retire(*link);
}

void ObjectDriver::break_disk() {
  if (setup_.scenario.directories == 0) return;
  if (draw_chance(random_, 70)) {
    setup_.model.journal().event("a call of the disk is about to fail");
    setup_.disk.fail_at(setup_.disk.calls() + 1 + random_.below(kSoon));
  } else {
    std::uint64_t used = 0;
    for (std::size_t device = 0; device < setup_.scenario.directories; ++device) {
      const std::string path = HeldObjects::directory(device);
      for (const std::string& name : setup_.disk.names(path)) {
        used += setup_.disk.content(path, name)->size();
      }
    }
    setup_.model.journal().event("the disk is almost full");
    setup_.disk.set_capacity(used + random_.below(kRoomLeft));
  }
}

Task<void> ObjectDriver::die_and_return() {
  if (!holder_up_) co_return;
  ObjectNode& holder = *holders_.back();
  setup_.model.journal().event("the holder dies");
  holder_up_ = false;
  setup_.model.store().gone();
  // What its closing would still do to the disks does not happen.
  setup_.disk.crash_at(setup_.disk.calls() + 1);
  for (ObjectLink& link : links_) {
    if (link.cut) link.cut();
  }
  current_ = nullptr;
  for (ObjectLink& link : links_) {
    if (link.connected && !link.retired) retire(link);
  }
  co_await holder.hang_up();
  co_await holder.close();
  constexpr test::CrashLoss kLosses[] = {test::CrashLoss::kAll, test::CrashLoss::kNone,
                                         test::CrashLoss::kSome, test::CrashLoss::kProcessOnly};
  setup_.disk.restart(kLosses[random_.below(4)]);
  setup_.disk.set_capacity(kEndless);
  setup_.disk.fail_at(0);
  co_await pause();
  ++counts_.restarts;
  co_await revive();
}

/// The next life of the holder.
Task<void> ObjectDriver::revive() {
  const bool bad =
      setup_.scenario.disk_faults > 0 && !holders_.empty() && draw_chance(random_, kBadStarts);
  if (bad) setup_.disk.fail_at(setup_.disk.calls() + 1 + random_.below(kSoon));
  holders_.push_back(std::make_unique<ObjectNode>(setup_, kHolder));
  auto started = co_await holders_.back()->start();
  if (!started && bad) {
    setup_.model.journal().event("the holder does not start: {}", started.error().to_string());
    setup_.disk.fail_at(0);
    holders_.push_back(std::make_unique<ObjectNode>(setup_, kHolder));
    started = co_await holders_.back()->start();
  }
  setup_.disk.fail_at(0);
  if (!started) {
    setup_.model.journal().violate(
        0, fmt::format("the holder did not start: {}", started.error().to_string()));
    co_return;
  }
  recovered(!bad);
  holder_up_ = true;
  setup_.model.journal().event("the holder is there");
}

/// `checked`: nothing kept the start from removing what nobody needs.
void ObjectDriver::recovered(bool checked) {
  ObjectStore& store = holders_.back()->store();
  const ObjectScenario& scenario = setup_.scenario;
  std::vector<std::shared_ptr<const StripingInfo>> found(kObjectKeys);
  for (std::size_t key = 0; key < kObjectKeys; ++key) {
    auto info = store.lookup(object_key(key));
    if (info) found[key] = std::move(*info);
  }
  setup_.model.store().back(scenario.directories == 0,
                            [&found](std::size_t key) -> const ObjectDescriptor* {
                              return found[key] ? &found[key]->object : nullptr;
                            });
  if (!checked) return;
  for (std::size_t device = 0; device < scenario.directories; ++device) {
    const std::string path = HeldObjects::directory(device);
    for (const std::string& name : setup_.disk.names(path)) {
      setup_.model.store().check_file(path, name);
    }
  }
}

Task<void> ObjectDriver::janitor() {
  while (!winding_up_) {
    const Duration stuck = draw_time(random_, kUnsticking);
    co_await sleep(stuck + Duration(1));
    for (const auto& holder : holders_) holder->unstick(kPullingLink);
  }
}

Task<bool> ObjectDriver::shut_down() {
  for (ObjectLink& link : links_) {
    if (link.connected && !link.retired) retire(link);
  }
  if (setup_.plant == Plant::kLeakedLease) {
    for (std::size_t key = 0; key < kObjectKeys; ++key) {
      [[maybe_unused]] const auto planted =
          holders_.back()->store().lease(object_key(key), std::nullopt, std::chrono::minutes(5));
    }
  }
  co_await scope_.join();
  co_await user_->hang_up();
  user_->check_idle();
  co_await user_->close();
  // What it still had under way for the user ends as its sessions do.
  co_await sleep(kFarewell);
  ObjectNode& holder = *holders_.back();
  co_await holder.hang_up();
  observe();
  holder.check_idle();
  holder_up_ = false;
  setup_.model.store().gone();
  co_await holder.close();
  winding_up_ = true;
  co_await janitors_.join();
  const bool last = co_await last_start();
  co_return last;
}

/// What was closed in order is there, and nothing else.
Task<bool> ObjectDriver::last_start() {
  setup_.disk.restart(test::CrashLoss::kProcessOnly);
  setup_.disk.set_capacity(kEndless);
  setup_.disk.fail_at(0);
  holders_.push_back(std::make_unique<ObjectNode>(setup_, kHolder));
  ObjectNode& holder = *holders_.back();
  auto started = co_await holder.start();
  if (!started) {
    setup_.model.journal().violate(
        0, fmt::format("the holder did not start: {}", started.error().to_string()));
    co_return false;
  }
  recovered(true);
  co_await holder.hang_up();
  co_await holder.close();
  co_return true;
}

}  // namespace corail::sim
