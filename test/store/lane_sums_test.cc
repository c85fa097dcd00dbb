// What the holder tells to verify some lanes with.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/base/random.h"
#include "test/store/support.h"

namespace corail::testing {
namespace {

using std::chrono::seconds;

Layout uneven_layout() {
  return *Layout::make({{64, 32, 0}, {96, 0, 0}, {32, 32, 1}, {160, 64, 1}, {64, 64, 0}});
}

StoreOptions two_nodes() {
  StoreOptions options;
  options.nodes = {{0, kMiB}, {1, kMiB}};
  // Some blocks only: prefixes cross extents.
  options.max_extent_bytes = 2048;
  return options;
}

/// Eight lanes, of uneven length and in two parts; saved in each order, a save of some blocks each.
struct Saved : Holder {
  Saved() : Holder(two_nodes()), layout(store->intern(uneven_layout())) {
    for (std::uint32_t first = 0; first < kBlocks; first += 6) {
      SaveSpec spec;
      spec.layout = layout;
      spec.part_numa = {0, 1};
      const bool whole = first % 12 == 0;
      for (std::uint32_t lane = 0; lane < layout->lanes(); ++lane) {
        spec.part_of_lane.push_back((whole ? lane / 5 : lane) % 2);
      }
      spec.order = first % 18 == 0 ? BlockOrder::kBlockMajor : BlockOrder::kLaneMajor;
      const auto some = std::span(hashes).subspan(first, 6);
      BOOST_REQUIRE(save(spec, some));
    }
  }

  std::uint64_t sum_of(std::string_view hash, LaneRange lanes) const {
    std::uint64_t sum = 0;
    for (std::uint32_t lane = lanes.begin; lane < lanes.end; ++lane) {
      std::vector<std::byte> bytes(layout->lane_bytes()[lane]);
      fill(bytes, hash, lane);
      sum += lane_term(xxh3_64(std::span<const std::byte>(bytes)), lane);
    }
    return sum;
  }

  static constexpr std::uint32_t kBlocks = 36;
  const std::shared_ptr<const Layout> layout;
  std::vector<std::string> names = hash_names(kBlocks);
  std::vector<std::string_view> hashes = views(names);
};

BOOST_FIXTURE_TEST_SUITE(lane_sums, Saved)

BOOST_AUTO_TEST_CASE(are_those_of_the_bytes_that_were_saved_in_any_order_of_blocks) {
  SeededRandom random(5);
  for (std::uint64_t read = 1; read <= 40; ++read) {
    std::vector<std::string_view> asked = hashes;
    for (std::size_t i = asked.size() - 1; read > 1 && i > 0; --i) {
      std::swap(asked[i], asked[random.below(i + 1)]);
    }
    BOOST_REQUIRE(query(kAlice, read, asked).ok());
    const auto begin = static_cast<std::uint32_t>(random.below(layout->lanes()));
    const auto end = begin + 1 + static_cast<std::uint32_t>(random.below(layout->lanes() - begin));
    const LaneRange lanes = read == 1 ? LaneRange{0, layout->lanes()} : LaneRange{begin, end};
    const auto sums = store->lane_sums(kAlice, ReadId(read), lanes);
    BOOST_REQUIRE(sums.ok());
    BOOST_REQUIRE(sums->size() == asked.size());
    for (std::size_t block = 0; block < asked.size(); ++block) {
      BOOST_TEST_CONTEXT("read " << read << " block " << block << " lanes " << lanes.begin << " to "
                                 << lanes.end) {
        BOOST_TEST((*sums)[block] == sum_of(asked[block], lanes));
      }
    }
    store->release(kAlice, ReadId(read));
  }
}

BOOST_AUTO_TEST_CASE(the_sum_of_all_lanes_is_the_checksum_without_the_identity) {
  const auto answer = query(kAlice, 1, hashes);
  BOOST_REQUIRE(answer.ok());
  const auto sums = store->lane_sums(kAlice, ReadId(1), LaneRange{0, layout->lanes()});
  BOOST_REQUIRE(sums.ok());
  for (std::size_t block = 0; block < hashes.size(); ++block) {
    const std::uint64_t identity = block_identity("ns", hashes[block], layout->id());
    BOOST_TEST(block_checksum((*sums)[block], identity).value() == answer->checksums[block]);
  }
}

BOOST_AUTO_TEST_CASE(survive_what_happens_to_the_block_under_the_lease) {
  BOOST_REQUIRE(query(kAlice, 1, hashes).ok());
  for (const std::string_view hash : hashes) store->erase("ns", hash);
  const auto sums = store->lane_sums(kAlice, ReadId(1), LaneRange{1, 3});
  BOOST_REQUIRE(sums.ok());
  BOOST_TEST((*sums)[7] == sum_of(hashes[7], LaneRange{1, 3}));
}

BOOST_AUTO_TEST_CASE(ranges_beyond_the_layout_and_leases_that_are_not_live_are_refused) {
  BOOST_REQUIRE(query(kAlice, 1, hashes, seconds(10)).ok());
  const auto code = [&](SessionId session, std::uint64_t read, LaneRange lanes) {
    const auto sums = store->lane_sums(session, ReadId(read), lanes);
    return sums ? Errc::kUnset : sums.error().code();
  };
  const std::uint32_t all = layout->lanes();
  BOOST_TEST((code(kAlice, 1, LaneRange{all - 1, all}) == Errc::kUnset));
  BOOST_TEST((code(kAlice, 1, LaneRange{all - 1, all + 1}) == Errc::kInvalidArgument));
  BOOST_TEST((code(kAlice, 1, LaneRange{all, all + 1}) == Errc::kInvalidArgument));
  BOOST_TEST((code(kAlice, 1, LaneRange{0, 0}) == Errc::kInvalidArgument));
  BOOST_TEST((code(kAlice, 1, LaneRange{2, 1}) == Errc::kInvalidArgument));
  BOOST_TEST((code(kAlice, 1, LaneRange{}) == Errc::kUnset));
  BOOST_TEST((code(kBob, 1, LaneRange{0, 1}) == Errc::kRefused));
  BOOST_TEST((code(kAlice, 2, LaneRange{0, 1}) == Errc::kRefused));
  advance(seconds(10));
  BOOST_TEST((code(kAlice, 1, LaneRange{0, 1}) == Errc::kLeaseExpired));
}

BOOST_AUTO_TEST_CASE(a_confirmation_may_keep_the_lease) {
  BOOST_REQUIRE(query(kAlice, 1, hashes, seconds(10)).ok());
  BOOST_TEST(store->confirm(kAlice, ReadId(1)).ok());
  BOOST_TEST(store->confirm(kAlice, ReadId(1)).ok());
  BOOST_TEST(store->stats().leases == 1U);
  advance(seconds(10) - Duration(1));
  BOOST_TEST(store->confirm(kAlice, ReadId(1)).ok());
  advance(Duration(1));
  const auto late = store->confirm(kAlice, ReadId(1));
  BOOST_REQUIRE(!late.ok());
  BOOST_TEST((late.error().code() == Errc::kLeaseExpired));
  BOOST_TEST(!store->confirm(kBob, ReadId(1)).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
