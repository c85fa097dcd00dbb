#include "engine/store/save.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/checksum.h"
#include "test/store/support.h"

namespace corail::testing {
namespace {

struct Fixture : Holder {
  Fixture() : Holder(two_nodes()) {
    spec.layout = store->intern(layout_of(2, 24, 40));
    spec.part_of_lane = {0, 0, 1, 1};
    spec.part_numa = {0, 1};
  }
  static StoreOptions two_nodes() {
    StoreOptions options;
    options.nodes = {{0, 64 * kKiB}, {1, 64 * kKiB}};
    return options;
  }

  SaveSpec spec;
  std::vector<std::string> names = hash_names(8);
  std::vector<std::string_view> hashes = views(names);
};

BOOST_FIXTURE_TEST_SUITE(saves, Fixture)

BOOST_AUTO_TEST_CASE(unsealed_blocks_never_match_and_dropped_ones_give_their_bytes_back) {
  const std::uint64_t free_before = store->stats().free_bytes;
  {
    auto save = store->begin(request_of(spec, hashes));
    BOOST_REQUIRE(save);
    BOOST_TEST(store->stats().free_bytes == free_before - 8 * 128);
    write_all(*save, spec, hashes);
    BOOST_REQUIRE(save->put_part(0));
    BOOST_REQUIRE(save->put_part(1));
    const auto answer = query(kAlice, 1, hashes);
    BOOST_REQUIRE(answer);
    BOOST_TEST(answer->block_count == 0U);
    BOOST_TEST(!store->contains("ns", hashes[0]));
  }
  BOOST_TEST(store->stats().free_bytes == free_before);
  BOOST_TEST(store->stats().leases == 0U);
}

BOOST_AUTO_TEST_CASE(parts_lie_on_their_nodes) {
  BOOST_REQUIRE(save(spec, hashes));
  const auto regions = registry.snapshot();
  BOOST_REQUIRE_EQUAL(regions->regions().size(), 2U);
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    const auto location = store->locate("ns", hashes[3], lane);
    BOOST_REQUIRE(location);
    const auto index = regions->find(location->address, location->bytes);
    BOOST_REQUIRE(index >= 0);
    const Region& region = regions->regions()[static_cast<std::size_t>(index)];
    BOOST_TEST((region.id == location->region));
    BOOST_TEST(region.numa_node == (lane < 2 ? 0 : 1));
  }
}

BOOST_AUTO_TEST_CASE(only_what_is_new_is_reserved_and_written) {
  const std::vector<std::string_view> first(hashes.begin(), hashes.begin() + 3);
  BOOST_REQUIRE(save(spec, first));
  const std::uint64_t free_before = store->stats().free_bytes;
  // Hash 3 is there twice: written once.
  const std::vector<std::string_view> wanted{hashes[0], hashes[3], hashes[1], hashes[3], hashes[4]};
  auto save = store->begin(request_of(spec, wanted));
  BOOST_REQUIRE(save);
  const auto fresh = save->new_blocks();
  BOOST_TEST(
      (std::vector<std::uint32_t>(fresh.begin(), fresh.end()) == std::vector<std::uint32_t>{1, 4}));
  BOOST_TEST(store->stats().free_bytes == free_before - 2 * 128);
  BOOST_TEST(save->writable(0, 0).empty());
  BOOST_TEST(save->writable(3, 0).empty());
  BOOST_TEST(save->writable(1, 4).empty());
  BOOST_TEST(save->writable(99, 0).empty());
  write_all(*save, spec, wanted);
  BOOST_REQUIRE(save->put_part(1));
  BOOST_REQUIRE(save->put_part(0));
  BOOST_REQUIRE(save->seal());
  BOOST_TEST(save->writable(1, 0).empty());
  BOOST_TEST(store->stats().blocks == 5U);
  BOOST_TEST(store->stats().deduplicated_blocks == 3U);
}

BOOST_AUTO_TEST_CASE(a_save_of_nothing_new_seals_too) {
  BOOST_REQUIRE(save(spec, hashes));
  BOOST_REQUIRE(save(spec, hashes));
  BOOST_TEST(store->stats().blocks == 8U);
}

BOOST_AUTO_TEST_CASE(of_two_saves_of_a_block_the_first_to_seal_stays) {
  auto early = store->begin(request_of(spec, hashes));
  auto late = store->begin(request_of(spec, hashes));
  BOOST_REQUIRE((early && late));
  BOOST_TEST(late->new_blocks().size() == 8U);
  for (Save* save : {&*late, &*early}) {
    write_all(*save, spec, hashes);
    BOOST_REQUIRE(save->put_part(0));
    BOOST_REQUIRE(save->put_part(1));
  }
  BOOST_REQUIRE(late->seal());
  const auto before = store->locate("ns", hashes[0], 0);
  const std::uint64_t free_before = store->stats().free_bytes;
  BOOST_REQUIRE(early->seal());
  const auto after = store->locate("ns", hashes[0], 0);
  BOOST_REQUIRE((before && after));
  BOOST_TEST(before->address == after->address);
  BOOST_TEST(store->stats().blocks == 8U);
  BOOST_TEST(store->stats().free_bytes == free_before + 8 * 128);
}

BOOST_AUTO_TEST_CASE(another_layout_replaces_a_block) {
  BOOST_REQUIRE(save(spec, hashes));
  SaveSpec other;
  other.layout = store->intern(layout_of(1, 100, 0));
  BOOST_REQUIRE(save(other, std::span(hashes).first(2)));
  BOOST_TEST(store->stats().blocks == 8U);
  const auto answer = query(kAlice, 1, hashes);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->block_count == 2U);
  BOOST_TEST((answer->layout == other.layout));
}

BOOST_AUTO_TEST_CASE(consecutive_saves_are_one_dense_run) {
  for (std::size_t i = 0; i < hashes.size(); i += 2) {
    BOOST_REQUIRE(save(spec, std::span(hashes).subspan(i, 2)));
  }
  const auto answer = query(kAlice, 1, hashes);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->block_count == 8U);
  BOOST_TEST(answer->runs.runs() == 4U);  // one a lane
  BOOST_TEST(answer->runs.stride[0] == 64);
}

BOOST_AUTO_TEST_CASE(a_seal_needs_every_part_once) {
  auto save = store->begin(request_of(spec, hashes));
  BOOST_REQUIRE(save);
  write_all(*save, spec, hashes);
  BOOST_REQUIRE(save->put_part(0));
  BOOST_TEST((save->put_part(0).error().code() == Errc::kInvalidArgument));
  BOOST_TEST((save->put_part(2).error().code() == Errc::kInvalidArgument));
  BOOST_TEST((save->seal().error().code() == Errc::kInvalidArgument));
  BOOST_REQUIRE(save->put_part(1));
  BOOST_REQUIRE(save->seal());
  BOOST_TEST((save->seal().error().code() == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_CASE(savers_on_threads_of_their_own) {
  for (const BlockOrder order : {BlockOrder::kBlockMajor, BlockOrder::kLaneMajor}) {
    spec.order = order;
    spec.name_space = order == BlockOrder::kBlockMajor ? "ns" : "other";
    auto save = store->begin(request_of(spec, hashes));
    BOOST_REQUIRE(save);
    bool put[2] = {false, false};
    std::vector<std::thread> savers;
    for (std::uint32_t part = 0; part < 2; ++part) {
      savers.emplace_back([&, part] {
        for (const std::uint32_t position : save->new_blocks()) {
          for (std::uint32_t lane = 2 * part; lane < 2 * part + 2; ++lane) {
            fill(save->writable(position, lane), hashes[position], lane);
          }
        }
        put[part] = save->put_part(part).ok();
      });
    }
    for (std::thread& saver : savers) saver.join();
    BOOST_TEST((put[0] && put[1]));
    BOOST_REQUIRE(save->seal());
  }
  const auto answer = query(kAlice, 1, hashes);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->block_count == 8U);
}

BOOST_AUTO_TEST_CASE(requests_that_cannot_be_are_refused) {
  const auto code = [&](const SaveRequest& request) {
    return store->begin(request).error().code();
  };
  const SaveRequest good = request_of(spec, hashes);
  SaveRequest bad = good;
  const std::string long_name(kMaxNamespaceBytes + 1, 'n');
  bad.name_space = long_name;
  BOOST_TEST((code(bad) == Errc::kInvalidArgument));
  bad = good;
  bad.hashes = {};
  BOOST_TEST((code(bad) == Errc::kInvalidArgument));
  const std::string long_hash(kMaxHashBytes + 1, 'h');
  for (const std::string_view hash : {std::string_view(), std::string_view(long_hash)}) {
    bad.hashes = {&hash, 1};
    BOOST_TEST((code(bad) == Errc::kInvalidArgument));
  }
  bad = good;
  bad.layout = nullptr;
  BOOST_TEST((code(bad) == Errc::kInvalidArgument));
  bad.layout = std::make_shared<const Layout>(layout_of(2, 24, 40));  // not interned here
  BOOST_TEST((code(bad) == Errc::kInvalidArgument));
  bad = good;
  const std::vector<std::int32_t> far{0, 7};
  bad.part_numa = far;
  BOOST_TEST((code(bad) == Errc::kInvalidArgument));
  bad.part_numa = {};
  BOOST_TEST((code(bad) == Errc::kInvalidArgument));
  // Nothing was used up by all that.
  BOOST_TEST(store->stats().free_bytes == store->stats().capacity_bytes);
  BOOST_TEST(store->begin(good).ok());
}

BOOST_AUTO_TEST_CASE(namespaces_are_bounded_and_come_back) {
  StoreOptions options = one_node(64 * kKiB);
  options.max_namespaces = 2;
  Holder holder(options);
  SaveSpec one;
  one.layout = holder.store->intern(layout_of(1, 64, 0));
  for (const char* name : {"a", "b"}) {
    one.name_space = name;
    BOOST_REQUIRE(holder.save(one, std::span(hashes).first(1)));
  }
  one.name_space = "c";
  const auto refused = holder.store->begin(request_of(one, hashes));
  BOOST_TEST((refused.error().code() == Errc::kQuotaExceeded));
  BOOST_TEST(holder.store->erase("a", hashes[0]));
  BOOST_TEST(holder.save(one, std::span(hashes).first(1)));
  BOOST_TEST(holder.store->contains("c", hashes[0]));
  BOOST_TEST(!holder.store->contains("a", hashes[0]));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
