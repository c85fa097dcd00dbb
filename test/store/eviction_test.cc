#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/store/support.h"

namespace corail::testing {
namespace {

/// Room for 64 blocks of 64 bytes, in extents of 4.
struct Fixture : Holder {
  Fixture() : Holder(options()) { spec.layout = store->intern(layout_of(1, 40, 24)); }
  static StoreOptions options() {
    StoreOptions options = one_node(4096);
    options.max_extent_bytes = 256;
    return options;
  }
  std::span<const std::string_view> set(std::size_t number, std::size_t blocks = 16) const {
    return std::span(hashes).subspan(number * 16, blocks);
  }
  std::size_t present(std::span<const std::string_view> wanted) const {
    std::size_t count = 0;
    for (const std::string_view hash : wanted) count += store->contains("ns", hash) ? 1 : 0;
    return count;
  }

  SaveSpec spec;
  std::vector<std::string> names = hash_names(200);
  std::vector<std::string_view> hashes = views(names);
};

BOOST_FIXTURE_TEST_SUITE(eviction, Fixture)

BOOST_AUTO_TEST_CASE(the_least_recently_used_goes_first_and_no_more_than_needed) {
  for (std::size_t i = 0; i < 4; ++i) BOOST_REQUIRE(save(spec, set(i)));
  BOOST_TEST(store->stats().free_bytes == 0U);
  // Set 0 is used again, so set 1 is the oldest; of it the tail goes first.
  BOOST_REQUIRE(query(kAlice, 1, set(0)));
  store->release(kAlice, ReadId(1));
  BOOST_REQUIRE(save(spec, set(4, 4)));
  BOOST_TEST(present(set(0)) == 16U);
  BOOST_TEST(present(set(1)) == 12U);
  BOOST_TEST(present(set(1, 12)) == 12U);
  BOOST_TEST(present(set(2)) == 16U);
  BOOST_TEST(store->stats().evicted_blocks == 4U);
  BOOST_TEST(store->stats().extents == 16U);
}

BOOST_AUTO_TEST_CASE(a_save_that_repeats_blocks_makes_them_recent) {
  for (std::size_t i = 0; i < 4; ++i) BOOST_REQUIRE(save(spec, set(i)));
  BOOST_REQUIRE(save(spec, set(0)));
  BOOST_REQUIRE(save(spec, set(4, 4)));
  BOOST_TEST(present(set(0)) == 16U);
}

BOOST_AUTO_TEST_CASE(leased_blocks_stay_and_their_bytes_are_not_reused) {
  for (std::size_t i = 0; i < 4; ++i) BOOST_REQUIRE(save(spec, set(i)));
  // Leases on everything but set 2.
  std::vector<QueryAnswer> answers;
  for (const std::size_t i : {0U, 1U, 3U}) {
    auto answer = query(kAlice, i, set(i));
    BOOST_REQUIRE(answer);
    answers.push_back(std::move(*answer));
  }
  BOOST_REQUIRE(save(spec, set(5)));
  BOOST_TEST(present(set(2)) == 0U);
  BOOST_TEST(present(set(0)) + present(set(1)) + present(set(3)) == 48U);
  // Only set 5 could go now, which is not enough.
  const auto refused = store->begin(request_of(spec, std::span(hashes).subspan(96, 32)));
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code() == Errc::kOutOfMemory));
  BOOST_TEST(present(set(5)) == 16U);  // and nothing was evicted for nothing

  // Erased under its lease: gone from the index, there in memory.
  for (const std::string_view hash : set(0)) BOOST_TEST(store->erase("ns", hash));
  BOOST_REQUIRE(save(spec, set(7)));
  for (std::uint32_t lane = 0; lane < 2; ++lane) {
    const auto addresses = expand_lane(answers[0].runs, lane);
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      BOOST_TEST(
          filled(at_address(addresses[i], spec.layout->lane_bytes()[lane]), set(0)[i], lane));
    }
  }
  const std::uint64_t free_before = store->stats().free_bytes;
  store->release(kAlice, ReadId(0));
  BOOST_TEST(store->stats().free_bytes == free_before + 1024);
}

BOOST_AUTO_TEST_CASE(leased_blocks_are_passed_over_when_they_are_the_oldest) {
  for (std::size_t i = 0; i < 4; ++i) BOOST_REQUIRE(save(spec, set(i)));
  BOOST_REQUIRE(query(kAlice, 0, set(0)));
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_REQUIRE(query(kAlice, i, set(i)));
    store->release(kAlice, ReadId(i));
  }
  BOOST_REQUIRE(save(spec, set(4, 4)));
  BOOST_TEST(present(set(0)) == 16U);
  BOOST_TEST(present(set(1)) == 12U);
  BOOST_TEST(store->stats().evicted_blocks == 4U);
}

BOOST_AUTO_TEST_CASE(a_save_stays_together_when_a_smaller_hole_comes_first) {
  BOOST_REQUIRE(save(spec, set(0, 4)));
  BOOST_REQUIRE(save(spec, set(1, 4)));
  for (const std::string_view hash : set(0, 4)) BOOST_REQUIRE(store->erase("ns", hash));
  BOOST_REQUIRE(save(spec, set(2)));  // four extents
  const auto answer = query(kAlice, 1, set(2));
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->runs.runs() == 2U);  // one a lane
}

BOOST_AUTO_TEST_CASE(what_can_never_fit_evicts_nothing) {
  BOOST_REQUIRE(save(spec, set(0)));
  const auto refused = store->begin(request_of(spec, std::span(hashes).subspan(16, 65)));
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code() == Errc::kTooLarge));
  BOOST_TEST(present(set(0)) == 16U);
}

BOOST_AUTO_TEST_CASE(holes_smaller_than_an_extent_are_used) {
  // Single blocks, every second of them leased: nothing larger than one block is free afterwards.
  std::vector<std::string_view> leased;
  for (std::size_t i = 0; i < 64; ++i) {
    const auto one = std::span(hashes).subspan(i, 1);
    BOOST_REQUIRE(save(spec, one));
    if (i % 2 == 0) BOOST_REQUIRE(query(kAlice, i, one));
  }
  BOOST_REQUIRE(save(spec, std::span(hashes).subspan(100, 32)));
  const auto answer = query(kBob, 1, std::span(hashes).subspan(100, 32));
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->block_count == 32U);
  BOOST_TEST(store->stats().free_bytes == 0U);
}

BOOST_AUTO_TEST_CASE(only_blocks_on_the_node_that_is_full_are_evicted) {
  StoreOptions two;
  two.nodes = {{0, 4096}, {1, 4096}};
  Holder holder(two);
  SaveSpec near;
  near.layout = holder.store->intern(layout_of(1, 40, 24));
  SaveSpec far = near;
  far.part_numa = {1};
  BOOST_REQUIRE(holder.save(near, std::span(hashes).first(8)));
  for (std::size_t i = 1; i < 6; ++i) {
    BOOST_REQUIRE(holder.save(far, std::span(hashes).subspan(i * 16, 16)));
  }
  for (const std::string_view hash : std::span(hashes).first(8)) {
    BOOST_TEST(holder.store->contains("ns", hash));
  }
}

BOOST_AUTO_TEST_CASE(the_index_has_a_bound_of_its_own) {
  StoreOptions options = one_node(1 << 20);
  options.max_blocks = 20;
  Holder holder(options);
  SaveSpec one;
  one.layout = holder.store->intern(layout_of(1, 40, 24));
  BOOST_REQUIRE(holder.save(one, set(0)));
  BOOST_REQUIRE(holder.save(one, set(1)));
  BOOST_TEST(holder.store->stats().blocks == 20U);
  BOOST_TEST(holder.query(kAlice, 1, set(1))->block_count == 16U);
  BOOST_TEST(holder.query(kAlice, 2, set(0))->block_count == 4U);
  const auto refused = holder.store->begin(request_of(one, std::span(hashes).subspan(40, 21)));
  BOOST_TEST((refused.error().code() == Errc::kTooLarge));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
