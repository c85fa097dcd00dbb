#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/units.h"
#include "engine/exec/sleep.h"
#include "engine/rail/rail.h"
#include "test/support/virtual_world.h"

namespace corail::test {

/// What an owner that writes does, and what the rail to it has seen.
struct PushScript {
  std::span<const std::byte> object;  // what it writes
  bool pushes = true;                 // what the transport's capabilities say
  Duration latency = std::chrono::microseconds(100);
  Duration grant_time{0};
  Result<void> grant_answer = ok_result();
  /// Its no, or the path's fault, in place of the bytes; empty: it writes all.
  std::function<Result<void>(const Slice&)> answer;
  bool silent = false;  // it takes orders and never answers: only a fence ends them

  std::vector<std::string> events;  // "grant", "post", "fence", "revoke"; a run of posts is one
  std::vector<std::span<std::byte>> granted;
  std::vector<Slice> posted;
};

/// A transport whose peer writes what is asked of it, in virtual time.
class PushingTransport final : public Transport {
 public:
  PushingTransport(VirtualWorld& world, PushScript& script) : world_(world), script_(script) {
    capabilities_.max_slice_bytes = 32 * kMiB;
    capabilities_.max_slices = 64;
    capabilities_.fence_is_local = true;
    capabilities_.needs_registration = true;
    capabilities_.pushes = script.pushes;
  }

  Task<Result<void>> connect(RailEndpoint, TimePoint) override { co_return ok_result(); }
  const Capabilities& capabilities() const noexcept override { return capabilities_; }

  Task<Result<void>> grant(SliceSink&, std::vector<std::span<std::byte>> memory,
                           TimePoint) override {
    note("grant");
    script_.granted = std::move(memory);
    const auto timer = world_.clock().make_timer(world_.executor());
    co_await sleep_until(*timer, world_.now() + script_.grant_time);
    co_return script_.grant_answer;
  }
  Task<void> revoke(SliceSink&) override {
    note("revoke");
    CORAIL_CHECK(orders_.empty(), "nobody may write when the right to is taken back");
    co_return;
  }

  void post(ReadContext, std::span<const Slice> slices, SliceSink& sink) override {
    if (script_.events.empty() || script_.events.back() != "post") note("post");
    for (const Slice& slice : slices) {
      script_.posted.push_back(slice);
      auto& order = orders_.emplace_back();
      order.slice = slice;
      order.sink = &sink;
      order.timer = world_.clock().make_timer(world_.executor());
      if (script_.silent) continue;
      const auto self = std::prev(orders_.end());
      order.timer->wait_until(world_.now() + script_.latency, [this, self](bool) { write(self); });
    }
  }

  Task<Result<void>> fence(SliceSink& sink, TimePoint) override {
    note("fence");
    while (!orders_.empty()) end(orders_.begin(), Error(Errc::kFlushed, "by the fence"));
    CORAIL_CHECK(&sink != nullptr, "a fence is somebody's");
    co_return ok_result();
  }
  Task<void> close() override { co_return; }
  bool usable() const noexcept override { return true; }

 private:
  struct Order {
    Slice slice;
    SliceSink* sink = nullptr;
    std::unique_ptr<Timer> timer;
  };
  using Orders = std::list<Order>;

  void note(std::string event) { script_.events.push_back(std::move(event)); }
  bool may_write(const Slice& slice) const {
    return std::ranges::any_of(script_.granted, [&](std::span<std::byte> memory) {
      return slice.destination >= memory.data() &&
             slice.destination + slice.length <= memory.data() + memory.size();
    });
  }
  void write(Orders::iterator order) {
    const Slice slice = order->slice;
    Result<void> answer = ok_result();
    if (script_.answer) answer = script_.answer(slice);
    if (answer && !may_write(slice)) answer = Error(Errc::kRefused, "outside of what was granted");
    if (answer) {
      std::memcpy(slice.destination, script_.object.data() + slice.remote_offset, slice.length);
    }
    end(order, std::move(answer));
  }
  void end(Orders::iterator order, Result<void> outcome) {
    const Slice slice = order->slice;
    SliceSink& sink = *order->sink;
    orders_.erase(order);
    sink.on_outcome(slice, std::move(outcome));
  }

  VirtualWorld& world_;
  PushScript& script_;
  Capabilities capabilities_;
  Orders orders_;
};

/// A rail over it. No read may run when it goes.
class PushingRail {
 public:
  PushingRail(VirtualWorld& world, std::string name, PushScript& script)
      : world_(world),
        rail_(std::move(name), world.executor(), world.clock(),
              std::make_unique<PushingTransport>(world, script), window()) {
    CORAIL_CHECK(world_.run(rail_.connect(RailEndpoint(), world_.now())), "it connects");
  }
  ~PushingRail() { CORAIL_CHECK(world_.run(rail_.close()), "it closes"); }
  PushingRail(const PushingRail&) = delete;
  PushingRail& operator=(const PushingRail&) = delete;

  Rail* get() noexcept { return &rail_; }

 private:
  static RailWindow window() {
    RailWindow window;
    window.bytes = kMiB;
    window.max_slice_bytes = kMiB;
    return window;
  }

  VirtualWorld& world_;
  Rail rail_;
};

}  // namespace corail::test
