#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "test/store/support.h"

namespace corail::testing {
namespace {

using std::chrono::seconds;

/// Two regions; blocks of 4 lanes of 32 bytes, two lanes in each.
struct Fixture : Holder {
  Fixture() : Holder(options()) {
    spec.layout = store->intern(layout_of(2, 32, 32));
    spec.part_of_lane = {0, 0, 1, 1};
    spec.part_numa = {0, 1};
  }
  static StoreOptions options() {
    StoreOptions options;
    options.nodes = {{0, 8192}, {1, 8192}};
    return options;
  }
  Errc admit(SessionId session, std::uint64_t read, RegionId region, std::uint64_t offset,
             std::uint64_t length) const {
    const auto bytes = store->admit(session, ReadId(read), region, offset, length);
    if (!bytes) return bytes.error().code();
    BOOST_REQUIRE_EQUAL(bytes->bytes.size(), length);
    BOOST_REQUIRE(bytes->pin);
    return Errc::kUnset;
  }
  /// Region and offset of a segment.
  std::pair<RegionId, std::uint64_t> place(std::string_view hash, std::uint32_t lane) const {
    const auto location = store->locate("ns", hash, lane);
    BOOST_REQUIRE(location);
    const auto table = registry.snapshot();
    for (const Region& region : table->regions()) {
      if (region.id == location->region) return {region.id, location->address - region.base};
    }
    BOOST_FAIL("the segment is in no region");
    return {};
  }

  SaveSpec spec;
  std::vector<std::string> names = hash_names(64);
  std::vector<std::string_view> hashes = views(names);
};

BOOST_FIXTURE_TEST_SUITE(admission, Fixture)

BOOST_AUTO_TEST_CASE(inside_outside_and_across_the_border_of_a_lease) {
  BOOST_REQUIRE(save(spec, std::span(hashes).first(9)));
  // The lease is on blocks 3, 4, 5 of 9: 192 bytes in each region.
  BOOST_REQUIRE(query(kAlice, 1, std::span(hashes).subspan(3, 3)));
  for (const std::uint32_t lane : {0U, 2U}) {
    const auto [region, offset] = place(hashes[3], lane);
    BOOST_TEST((admit(kAlice, 1, region, offset, 192) == Errc::kUnset));
    BOOST_TEST((admit(kAlice, 1, region, offset + 17, 1) == Errc::kUnset));
    BOOST_TEST((admit(kAlice, 1, region, offset + 191, 1) == Errc::kUnset));
    BOOST_TEST((admit(kAlice, 1, region, offset, 193) == Errc::kRefused));
    BOOST_TEST((admit(kAlice, 1, region, offset - 1, 2) == Errc::kRefused));
    BOOST_TEST((admit(kAlice, 1, region, offset + 192, 1) == Errc::kRefused));
    BOOST_TEST((admit(kAlice, 1, region, 0, 1) == Errc::kRefused));
    BOOST_TEST((admit(kAlice, 1, region, offset, 0) == Errc::kRefused));
    BOOST_TEST((admit(kAlice, 1, region, offset, ~0ULL) == Errc::kRefused));
    BOOST_TEST((admit(kAlice, 1, region, ~0ULL, 2) == Errc::kRefused));
    BOOST_TEST((admit(kAlice, 1, RegionId(999), offset, 1) == Errc::kRefused));
    // Not this read's, not this session's.
    BOOST_TEST((admit(kAlice, 2, region, offset, 1) == Errc::kRefused));
    BOOST_TEST((admit(kBob, 1, region, offset, 1) == Errc::kRefused));
  }
}

BOOST_AUTO_TEST_CASE(the_bytes_are_those_of_the_block) {
  BOOST_REQUIRE(save(spec, std::span(hashes).first(4)));
  BOOST_REQUIRE(query(kAlice, 1, std::span(hashes).first(4)));
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    const auto [region, offset] = place(hashes[2], lane);
    const auto bytes = store->admit(kAlice, ReadId(1), region, offset, 32);
    BOOST_REQUIRE(bytes);
    BOOST_TEST(filled(bytes->bytes, hashes[2], lane));
  }
}

BOOST_AUTO_TEST_CASE(nothing_after_release_confirm_quiesce_drop_and_lapse) {
  BOOST_REQUIRE(save(spec, std::span(hashes).first(4)));
  const auto [region, offset] = place(hashes[0], 0);
  const auto lease = [&](std::uint64_t read) {
    BOOST_REQUIRE(query(kAlice, read, std::span(hashes).first(4), seconds(10)));
    BOOST_REQUIRE((admit(kAlice, read, region, offset, 32) == Errc::kUnset));
  };
  lease(1);
  store->release(kAlice, ReadId(1));
  BOOST_TEST((admit(kAlice, 1, region, offset, 32) == Errc::kRefused));
  lease(2);
  BOOST_REQUIRE(store->confirm_and_release(kAlice, ReadId(2)));
  BOOST_TEST((admit(kAlice, 2, region, offset, 32) == Errc::kRefused));
  lease(3);
  store->quiesce(kAlice, ReadId(3));
  BOOST_TEST((admit(kAlice, 3, region, offset, 32) == Errc::kRefused));
  lease(4);
  clock.advance(seconds(10));  // before the timer's callback
  BOOST_TEST((admit(kAlice, 4, region, offset, 32) == Errc::kLeaseExpired));
  advance(seconds(1));  // and after it
  BOOST_TEST((admit(kAlice, 4, region, offset, 32) == Errc::kLeaseExpired));
  lease(5);
  store->drop_session(kAlice);
  BOOST_TEST((admit(kAlice, 5, region, offset, 32) == Errc::kRefused));
}

BOOST_AUTO_TEST_CASE(pinned_bytes_outlive_lease_block_and_store) {
  BOOST_REQUIRE(save(spec, std::span(hashes).first(64)));
  BOOST_REQUIRE(query(kAlice, 1, std::span(hashes).first(64), seconds(10)));
  const auto [region, offset] = place(hashes[0], 0);
  auto pinned = store->admit(kAlice, ReadId(1), region, offset, 64 * 64);
  BOOST_REQUIRE(pinned);
  Pin other = pinned->pin;
  advance(seconds(11));
  for (const std::string_view hash : hashes) BOOST_REQUIRE(store->erase("ns", hash));
  const auto intact = [&] {
    for (std::size_t i = 0; i < 64; ++i) {
      for (std::uint32_t lane = 0; lane < 2; ++lane) {
        if (!filled(pinned->bytes.subspan(i * 64 + lane * 32, 32), hashes[i], lane)) return false;
      }
    }
    return true;
  };
  // As much as there is room for: none of it may be the pinned bytes.
  std::vector<std::string> more = hash_names(64, "more-");
  BOOST_REQUIRE(save(spec, views(more)));
  BOOST_TEST(!save(spec, views(hash_names(128, "too-many-"))));
  BOOST_TEST(intact());
  pinned->pin.reset();
  BOOST_TEST(!save(spec, views(hash_names(128, "too-many-"))));
  BOOST_TEST(intact());
  store.reset();
  BOOST_TEST(intact());
  other.reset();
}

BOOST_AUTO_TEST_CASE(bytes_come_back_with_the_last_pin) {
  BOOST_REQUIRE(save(spec, std::span(hashes).first(64)));
  BOOST_REQUIRE(query(kAlice, 1, std::span(hashes).first(64)));
  const auto [region, offset] = place(hashes[0], 0);
  auto pinned = store->admit(kAlice, ReadId(1), region, offset, 32);
  BOOST_REQUIRE(pinned);
  store->release(kAlice, ReadId(1));
  for (const std::string_view hash : hashes) BOOST_REQUIRE(store->erase("ns", hash));
  BOOST_TEST(store->stats().free_bytes < store->stats().capacity_bytes);
  std::thread sender([pin = std::move(pinned->pin)]() mutable { pin.reset(); });
  sender.join();
  BOOST_TEST(store->stats().free_bytes == store->stats().capacity_bytes);
}

/// Every offset and a range of lengths against the segments themselves, in all orders.
BOOST_AUTO_TEST_CASE(admits_exactly_what_the_answer_names) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SeededRandom random(seed);
    StoreOptions small = options();
    small.max_extent_bytes = 128 + random.below(1000);
    Holder holder(small);
    SaveSpec mixed;
    std::vector<Slot> slots(2);
    for (Slot& slot : slots) {
      slot.k_bytes = 1 + static_cast<std::uint32_t>(random.below(20));
      slot.v_bytes = random.below(2) == 0 ? slot.k_bytes : 9;
    }
    mixed.layout = holder.store->intern(*Layout::make(slots));
    mixed.part_of_lane = {0, 1, 0, static_cast<std::uint32_t>(random.below(2))};
    mixed.part_numa = {0, random.below(2) == 0 ? 0 : 1};
    for (std::size_t i = 0; i < 32; i += 8) {
      mixed.order = random.below(2) == 0 ? BlockOrder::kLaneMajor : BlockOrder::kBlockMajor;
      BOOST_REQUIRE(holder.save(mixed, std::span(hashes).subspan(i, 8)));
    }
    std::vector<std::string_view> asked(hashes.begin(), hashes.begin() + 32);
    for (std::size_t i = asked.size(); i > 1; --i) std::swap(asked[i - 1], asked[random.below(i)]);
    asked.resize(1 + random.below(20));
    const auto answer = holder.query(kAlice, 1, asked);
    BOOST_REQUIRE(answer);
    BOOST_REQUIRE_EQUAL(answer->block_count, asked.size());
    const auto table = holder.registry.snapshot();
    for (const Region& region : table->regions()) {
      std::vector<bool> leased(region.length + 1, false);
      for (std::uint32_t lane = 0; lane < 4; ++lane) {
        for (const std::uint64_t address : expand_lane(answer->runs, lane)) {
          if (address - region.base >= region.length) continue;
          for (std::uint32_t i = 0; i < mixed.layout->lane_bytes()[lane]; ++i) {
            leased[address - region.base + i] = true;
          }
        }
      }
      std::uint64_t wrong = 0;
      for (std::uint64_t offset = 0; offset < 2500; ++offset) {
        std::uint64_t covered = 0;
        while (leased[offset + covered]) ++covered;
        for (const std::uint64_t length : {std::uint64_t{1}, covered, covered + 1}) {
          if (length == 0) continue;
          const auto bytes = holder.store->admit(kAlice, ReadId(1), region.id, offset, length);
          if (bytes.ok() != (length <= covered)) ++wrong;
          if (bytes &&
              reinterpret_cast<std::uint64_t>(bytes->bytes.data()) != region.base + offset) {
            ++wrong;
          }
        }
      }
      BOOST_TEST(wrong == 0U);
    }
  }
}

/// Rails admit and send while the home thread grants, evicts, saves and releases. Whatever was
/// admitted is intact until its pin goes.
BOOST_AUTO_TEST_CASE(rails_and_home_at_once) {
  constexpr std::uint64_t kReads = 400;
  std::atomic<std::uint64_t> current{0};
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> admitted{0};
  std::atomic<std::uint64_t> broken{0};
  const auto regions = registry.snapshot();
  const Region& region = regions->regions()[0];
  std::vector<std::thread> rails;
  for (int rail = 0; rail < 2; ++rail) {
    rails.emplace_back([&, rail] {
      SeededRandom random(static_cast<std::uint64_t>(rail));
      while (!stop) {
        const auto bytes =
            store->admit(kAlice, ReadId(current.load()), region.id, random.below(128) * 64, 64);
        if (!bytes) continue;
        ++admitted;
        // A block's part in this region, whose bytes follow from the first ones: 8 bytes of a seed,
        // then the same plus one.
        for (int look = 0; look < 4; ++look) {
          for (std::size_t i = 8; i < 32; ++i) {
            const auto expected =
                static_cast<std::byte>(std::to_integer<unsigned>(bytes->bytes[i - 8]) + 1);
            if (bytes->bytes[i] != expected) ++broken;
          }
          std::this_thread::yield();
        }
      }
    });
  }
  for (std::uint64_t read = 1; read <= kReads; ++read) {
    const auto set = hash_names(40, "set-" + std::to_string(read % 7) + "-");
    BOOST_REQUIRE(save(spec, views(set)) || read > 1);
    const auto answer = query(kAlice, read, views(set));
    BOOST_REQUIRE(answer);
    current = read;
    if (read % 3 == 0) store->quiesce(kAlice, ReadId(read));
    std::this_thread::yield();
    store->release(kAlice, ReadId(read));
    (void)store->stats();
  }
  // At least once somebody must have been served, on however busy a machine.
  const auto last = hash_names(40, "last-");
  const std::vector<std::string_view> last_views = views(last);
  while (!save(spec, last_views)) std::this_thread::yield();
  BOOST_REQUIRE(query(kAlice, kReads + 1, last_views));
  current = kReads + 1;
  while (admitted == 0) std::this_thread::yield();
  stop = true;
  for (std::thread& rail : rails) rail.join();
  BOOST_TEST(broken == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
