#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/units.h"
#include "engine/rail/rail.h"
#include "test/support/virtual_world.h"

// How the shares of reads take turns on one rail, whatever carries the bytes.

namespace corail::test {
namespace {

constexpr std::uint64_t kWhole = 512 * kKiB;
constexpr std::uint64_t kWindow = 4 * kMiB;
constexpr std::uint64_t kBeyond = kWindow / 8;
/// A turn of the rail and the slice that ends it.
constexpr std::uint64_t kTurn = 256 * kKiB + kWhole;

/// Keeps what is posted until the test ends it.
class HeldTransport final : public Transport {
 public:
  explicit HeldTransport(std::uint32_t max_slices) {
    capabilities_.max_slice_bytes = kWhole;
    capabilities_.max_slices = max_slices;
    capabilities_.fence_is_local = true;
  }
  Task<Result<void>> connect(RailEndpoint, TimePoint) override { co_return ok_result(); }
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  void post(ReadContext, std::span<const Slice> slices, SliceSink& sink) override {
    for (const Slice& slice : slices) {
      held.emplace_back(slice, &sink);
      bytes += slice.length;
    }
  }
  Task<Result<void>> fence(SliceSink&, TimePoint) override { co_return ok_result(); }
  Task<void> close() override { co_return; }
  bool usable() const noexcept override { return true; }

  void end(std::size_t index) {
    const auto [slice, sink] = held[index];
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(index));
    bytes -= slice.length;
    sink->on_outcome(slice, ok_result());
  }

  std::deque<std::pair<Slice, SliceSink*>> held;
  std::uint64_t bytes = 0;

 private:
  Capabilities capabilities_;
};

/// A share with slices of random lengths up to `longest`, `left` bytes of them.
class Backlog final : public SliceSource {
 public:
  Backlog(Random& random, std::uint64_t longest, std::uint64_t bytes)
      : left(bytes), random_(random), longest_(longest) {}

  std::optional<Slice> next(std::uint64_t max_bytes) noexcept override {
    if (left == 0) return std::nullopt;
    Slice slice;
    slice.length = std::min({1 + random_.below(longest_), max_bytes, left});
    slice.tag = tag_++;
    left -= slice.length;
    posted += slice.length;
    return slice;
  }
  bool has_more() const noexcept override { return left > 0; }
  void on_landed(const Slice&, std::uint64_t, std::uint64_t) noexcept override {}
  void on_outcome(const Slice& slice, Result<void>) noexcept override { ended += slice.length; }
  void on_rail_failed(const Error&) noexcept override {}
  ReadContext context() const noexcept override { return {}; }
  bool idle() const noexcept { return posted == ended; }

  std::uint64_t left;
  std::uint64_t posted = 0;
  std::uint64_t ended = 0;

 private:
  Random& random_;
  const std::uint64_t longest_;
  std::uint64_t tag_ = 0;
};

struct TurnsRig {
  explicit TurnsRig(std::uint32_t max_slices = 1024) {
    auto made = std::make_unique<HeldTransport>(max_slices);
    transport = made.get();
    RailWindow window;
    window.bytes = kWindow;
    window.max_slice_bytes = kWhole;
    rail = std::make_unique<Rail>("held", world.executor(), world.clock(), std::move(made), window);
    BOOST_TEST_REQUIRE(world.run(rail->connect(RailEndpoint(), world.now())).ok());
  }
  ~TurnsRig() {
    for (const auto& share : shares) share->left = 0;
    while (!transport->held.empty()) end(0);
    while (!shares.empty()) detach(*shares.front());
    BOOST_TEST(world.run(rail->close()).ok());
  }
  TurnsRig(const TurnsRig&) = delete;
  TurnsRig& operator=(const TurnsRig&) = delete;

  Backlog& attach(Random& random, std::uint64_t longest, std::uint64_t bytes) {
    shares.push_back(std::make_unique<Backlog>(random, longest, bytes));
    BOOST_TEST_REQUIRE(rail->attach(*shares.back()).ok());
    return *shares.back();
  }
  void detach(const Backlog& share) {
    const auto found =
        std::ranges::find_if(shares, [&share](const auto& entry) { return entry.get() == &share; });
    rail->detach(**found);
    shares.erase(found);
  }
  void end(std::size_t index) {
    transport->end(index);
    world.settle();
  }
  /// As a holder that serves reads in turns: some slice near the front.
  void end_some(Random& random) {
    end(random.below(std::min<std::size_t>(4, transport->held.size())));
  }

  VirtualWorld world;
  HeldTransport* transport = nullptr;
  std::unique_ptr<Rail> rail;
  std::vector<std::unique_ptr<Backlog>> shares;
};

BOOST_AUTO_TEST_SUITE(rail_turns)

BOOST_AUTO_TEST_CASE(a_share_alone_fills_the_window) {
  SeededRandom random(1);
  TurnsRig rig;
  rig.attach(random, 100'000, kGiB);
  for (int i = 0; i < 1000; ++i) {
    BOOST_TEST_REQUIRE(rig.transport->bytes + kWhole > kWindow);
    BOOST_TEST_REQUIRE(rig.transport->bytes <= kWindow);
    rig.end_some(random);
  }
}

BOOST_AUTO_TEST_CASE(shares_that_always_have_slices_get_equal_bytes) {
  SeededRandom random(2);
  TurnsRig rig;
  const Backlog& whole = rig.attach(random, 4 * kWhole, kGiB);
  for (int i = 0; i < 50; ++i) rig.end_some(random);
  // What is in flight when the other one comes nobody has yet.
  const std::uint64_t before = whole.ended;
  const Backlog& crumbs = rig.attach(random, 8 * kKiB, kGiB);
  bool caught_up = false;
  for (int i = 0; i < 20'000; ++i) {
    rig.end_some(random);
    const std::uint64_t first = whole.posted - before;
    const std::uint64_t apart = std::max(first, crumbs.posted) - std::min(first, crumbs.posted);
    caught_up = caught_up || apart <= kTurn;
    if (caught_up) BOOST_TEST_REQUIRE(apart <= kTurn);
  }
  BOOST_TEST(caught_up);
  BOOST_TEST((whole.left > 0 && crumbs.left > 0));
}

BOOST_AUTO_TEST_CASE(a_full_window_keeps_nobody_out_and_is_exceeded_by_an_eighth) {
  SeededRandom random(3);
  TurnsRig rig;
  rig.attach(random, kGiB, kGiB);
  BOOST_TEST(rig.transport->bytes + kWhole > kWindow);
  BOOST_TEST(rig.attach(random, kGiB, 1000).posted > 0U);
  std::vector<const Backlog*> more;
  for (int i = 0; i < 20; ++i) {
    more.push_back(&rig.attach(random, kGiB, kGiB));
    BOOST_TEST(rig.transport->bytes <= kWindow + kBeyond);
  }
  for (int i = 0; i < 1000; ++i) {
    rig.end_some(random);
    BOOST_TEST_REQUIRE(rig.transport->bytes <= kWindow + kBeyond);
  }
  for (const Backlog* const share : more) BOOST_TEST(share->posted > 0U);
}

BOOST_AUTO_TEST_CASE(slices_of_one_read_leave_slots_to_others) {
  SeededRandom random(4);
  TurnsRig rig(32);
  rig.attach(random, 10, kGiB);
  BOOST_TEST(rig.attach(random, kMiB, 5000).posted > 0U);
  BOOST_TEST(rig.transport->held.size() <= 32U);
}

BOOST_AUTO_TEST_CASE(nobody_starves_under_random_arrivals) {
  SeededRandom random(5);
  TurnsRig rig;
  const Backlog& large = rig.attach(random, kGiB, 64 * kGiB);
  std::deque<const Backlog*> small;
  std::uint64_t posted_by_large = 0;
  for (int i = 0; i < 20'000; ++i) {
    while (small.size() < 6 && random.below(2) == 0) {
      small.push_back(&rig.attach(random, 64 * kKiB, 1 + random.below(kMiB)));
    }
    rig.end_some(random);
    while (!small.empty() && small.front()->left == 0 && small.front()->idle()) {
      rig.detach(*small.front());
      small.pop_front();
    }
    if (i % 500 != 499) continue;
    BOOST_TEST_REQUIRE(large.posted > posted_by_large);
    posted_by_large = large.posted;
  }
}

BOOST_AUTO_TEST_CASE(a_share_that_had_nothing_has_no_claim_to_what_others_got_meanwhile) {
  SeededRandom random(6);
  TurnsRig rig;
  Backlog& pausing = rig.attach(random, kWhole, 1000);
  const Backlog& steady = rig.attach(random, kWhole, kGiB);
  for (int i = 0; i < 500; ++i) rig.end_some(random);
  BOOST_TEST_REQUIRE(pausing.idle());
  const std::uint64_t before = pausing.posted;
  pausing.left = kGiB;
  rig.rail->ask_again(pausing);
  rig.world.settle();
  const std::uint64_t steady_before = steady.posted;
  while (steady.posted == steady_before && pausing.left > 0) rig.end_some(random);
  // No more than what the other one had in flight, which it did not have yet.
  BOOST_TEST(pausing.posted - before <= kWindow + kBeyond + kTurn);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
