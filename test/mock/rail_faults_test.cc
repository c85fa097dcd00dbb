#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/units.h"
#include "engine/rail/rail.h"
#include "test/support/virtual_world.h"

// What a rail tells its shares when it fails, over a transport that does just what the test says.

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Keeps what is posted until the test ends it.
class PuppetTransport final : public Transport {
 public:
  struct Posted {
    Slice slice;
    SliceSink* sink = nullptr;
  };

  PuppetTransport() {
    capabilities_.max_slice_bytes = kMiB;
    capabilities_.max_slices = 2;
    capabilities_.fence_is_local = true;
  }

  Task<Result<void>> connect(RailEndpoint, TimePoint) override {
    if (lost_while_connecting) lose(*lost_while_connecting);
    co_return ok_result();
  }
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  void post(ReadContext, std::span<const Slice> slices, SliceSink& sink) override {
    for (const Slice& slice : slices) {
      posted.push_back({slice, &sink});
      ++posted_ever;
    }
  }
  Task<Result<void>> fence(SliceSink& sink, TimePoint) override {
    end_if([&sink](const Posted& entry) { return entry.sink == &sink; });
    co_return ok_result();
  }
  Task<void> close() override {
    end_if([](const Posted&) { return true; });
    co_return;
  }
  void when_lost(Lost lost) override { lost_ = std::move(lost); }
  bool usable() const noexcept override { return usable_; }

  void end_first(Result<void> outcome) {
    const Posted first = posted.front();
    posted.erase(posted.begin());
    first.sink->on_outcome(first.slice, std::move(outcome));
  }
  void lose(const Error& why) {
    usable_ = false;
    lost_(why);
  }

  std::vector<Posted> posted;
  std::size_t posted_ever = 0;
  const Error* lost_while_connecting = nullptr;

 private:
  template <typename F>
  void end_if(F wanted) {
    std::vector<Posted> ended;
    for (const Posted& entry : posted) {
      if (wanted(entry)) ended.push_back(entry);
    }
    std::erase_if(posted, wanted);
    for (const Posted& entry : ended) {
      entry.sink->on_outcome(entry.slice, Error(Errc::kFlushed, Stage::kWait, "by the puppet"));
    }
  }

  Capabilities capabilities_;
  Lost lost_;
  bool usable_ = true;
};

/// A share with as many slices as anybody wants.
class EndlessShare final : public SliceSource {
 public:
  std::optional<Slice> next(std::uint64_t max_bytes) noexcept override {
    if (gives_no_more) return std::nullopt;
    Slice slice;
    slice.length = max_bytes;
    slice.tag = next_tag_++;
    return slice;
  }
  bool has_more() const noexcept override { return !gives_no_more; }
  void on_landed(const Slice&, std::uint64_t, std::uint64_t) noexcept override {}
  void on_outcome(const Slice&, Result<void> outcome) noexcept override {
    outcomes.push_back(outcome.ok() ? Errc{} : outcome.error().code());
  }
  void on_rail_failed(const Error& why) noexcept override { told.push_back(why.code()); }
  ReadContext context() const noexcept override { return ReadContext(); }

  std::vector<Errc> outcomes;
  std::vector<Errc> told;
  bool gives_no_more = false;

 private:
  std::uint64_t next_tag_ = 0;
};

/// A connected rail whose window is full with the slices of the first share, so that the second
/// one waits.
struct TwoShares {
  explicit TwoShares(const Error* lost_while_connecting = nullptr) {
    window.bytes = 2 * 64 * kKiB;
    window.max_slice_bytes = 64 * kKiB;
    options.port = port;
    Rail::MakeTransport make = [this, lost_while_connecting] {
      auto made = std::make_unique<PuppetTransport>();
      if (transports++ == 0) made->lost_while_connecting = lost_while_connecting;
      transport = made.get();
      return made;
    };
    rail = std::make_unique<Rail>("puppet", world.executor(), world.clock(), std::move(make),
                                  window, options);
    connected = world.run(rail->connect(RailEndpoint(), world.now() + seconds(1)));
  }
  ~TwoShares() { BOOST_TEST(world.run(rail->close()).ok()); }

  void attach_both() {
    BOOST_TEST_REQUIRE(rail->attach(busy).ok());
    BOOST_TEST_REQUIRE(rail->attach(idle).ok());
    BOOST_TEST_REQUIRE(transport->posted.size() == 2U);
    for (const auto& entry : transport->posted) BOOST_TEST(entry.slice.length == 64 * kKiB);
  }
  void detach_both() {
    const TimePoint soon = world.now() + seconds(1);
    for (EndlessShare* share : {&busy, &idle}) {
      BOOST_TEST(world.run(rail->fence(*share, soon)).ok());
      rail->detach(*share);
    }
  }
  /// Both have been told this, once, and nobody posts any more.
  void check_condemned(Errc why) {
    BOOST_TEST((busy.told == std::vector<Errc>{why}));
    BOOST_TEST((idle.told == std::vector<Errc>{why}));
    BOOST_TEST((rail->status().state == RailState::kDraining));
    const std::size_t before = transport->posted_ever;
    transport->end_first(ok_result());
    rail->ask_again(idle);
    world.settle();
    BOOST_TEST(transport->posted_ever == before);
    detach_both();
    world.run_for(seconds(1));
    BOOST_TEST(transports == 2U);
  }

  VirtualWorld world;
  std::shared_ptr<PortHealth> port = std::make_shared<PortHealth>();
  RailWindow window;
  RailOptions options;
  std::size_t transports = 0;
  PuppetTransport* transport = nullptr;
  EndlessShare busy;
  EndlessShare idle;
  Result<void> connected;
  std::unique_ptr<Rail> rail;
};

BOOST_AUTO_TEST_SUITE(rail_faults)

BOOST_AUTO_TEST_CASE(a_silent_rail_tells_those_that_wait_for_it_too) {
  TwoShares it;
  it.attach_both();
  it.world.run_for(kWatchdogTime - milliseconds(1));
  BOOST_TEST(it.busy.told.empty());
  it.world.run_for(milliseconds(1));
  it.check_condemned(Errc::kRailFailed);
  BOOST_TEST(it.rail->health().faults() == 1U);
  BOOST_TEST((it.rail->status().state == RailState::kReady));
}

BOOST_AUTO_TEST_CASE(a_port_that_goes_down_tells_every_share_although_the_device_says_nothing) {
  TwoShares it;
  it.attach_both();
  BOOST_TEST_REQUIRE(it.port->event(false));
  BOOST_TEST(it.rail->usable());
  it.world.settle();
  BOOST_TEST_REQUIRE(it.port->event(true));
  it.check_condemned(Errc::kConnectionLost);
  // What it flushed on its way out neither.
  BOOST_TEST(it.rail->health().faults() == 0U);
  BOOST_TEST((it.rail->status().state == RailState::kReady));
}

BOOST_AUTO_TEST_CASE(a_rail_that_is_given_up_posts_nothing_while_it_closes) {
  TwoShares it;
  it.attach_both();
  it.rail->give_up(Error(Errc::kStuck, Stage::kWait, "by the test"));
  it.world.settle();
  BOOST_TEST(it.transport->posted_ever == 2U);
  BOOST_TEST((it.idle.told == std::vector<Errc>{Errc::kStuck}));
  it.detach_both();
}

BOOST_AUTO_TEST_CASE(silence_counts_from_what_was_heard_of_the_oldest_slice) {
  TwoShares it;
  it.attach_both();
  const auto half = kWatchdogTime / 2;
  it.world.run_for(half);
  const auto oldest = it.transport->posted.front();
  oldest.sink->on_landed(oldest.slice, 0, 1);
  it.world.run_for(half + milliseconds(1));
  BOOST_TEST(it.busy.told.empty());
  // Its turn comes when the one before it has ended.
  it.transport->end_first(ok_result());
  it.world.run_for(kWatchdogTime - milliseconds(1));
  BOOST_TEST(it.busy.told.empty());
  it.world.run_for(milliseconds(1));
  BOOST_TEST(it.busy.told.size() == 1U);
  it.detach_both();
}

BOOST_AUTO_TEST_CASE(a_breach_of_the_protocol_is_no_fault_of_the_path) {
  TwoShares it;
  it.transport->lose(Error(Errc::kProtocol, Stage::kWait, "nonsense"));
  BOOST_TEST((it.rail->status().state == RailState::kDraining));
  it.world.run_for(seconds(1));
  BOOST_TEST((it.rail->status().state == RailState::kReady));
  BOOST_TEST(it.transports == 2U);
  BOOST_TEST(it.rail->health().faults() == 0U);
  it.transport->lose(Error(Errc::kConnectionLost, Stage::kWait, "gone"));
  BOOST_TEST(it.rail->health().faults() == 1U);
}

BOOST_AUTO_TEST_CASE(a_breach_tells_those_that_wait_whose_fault_it_was) {
  TwoShares it;
  it.attach_both();
  it.transport->lose(Error(Errc::kProtocol, Stage::kWait, "nonsense"));
  // The other one hears it from its slices.
  BOOST_TEST((it.idle.told == std::vector<Errc>{Errc::kProtocol}));
  BOOST_TEST(it.busy.told.empty());
  it.busy.gives_no_more = it.idle.gives_no_more = true;
  it.detach_both();
}

BOOST_AUTO_TEST_CASE(a_transport_that_is_lost_while_it_connects_makes_no_rail) {
  const Error gone(Errc::kConnectionLost, Stage::kConnect, "gone");
  TwoShares it(&gone);
  BOOST_TEST(!it.connected.ok());
  BOOST_TEST((it.rail->status().state == RailState::kClosed));
  it.world.run_for(seconds(1));
  BOOST_TEST((it.rail->status().state == RailState::kReady));
  BOOST_TEST(it.rail->health().faults() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
