#include "engine/store/seal_watch.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "test/store/support.h"

namespace corail::testing {
namespace {

struct Fixture : Holder {
  Fixture() : Holder(options()) { spec.layout = store->intern(layout_of(3, 32, 32)); }

  static StoreOptions options() {
    StoreOptions options = one_node(1 << 20);
    options.max_waiting_queries_per_requester = 3;
    options.max_waited_keys_per_requester = 25;
    return options;
  }

  /// Counts in `completed`.
  Result<std::unique_ptr<SealWatch>> watch(std::span<const std::string_view> keys,
                                           SessionId session = kAlice,
                                           std::string_view name_space = "ns") {
    return store->watch(session, name_space, keys, [this] { ++completed; });
  }

  SaveSpec spec;
  std::vector<std::string> names = hash_names(20);
  std::vector<std::string_view> hashes = views(names);
  int completed = 0;
};

BOOST_FIXTURE_TEST_SUITE(seal_watch, Fixture)

BOOST_AUTO_TEST_CASE(is_complete_with_the_last_missing_block_and_not_before) {
  BOOST_REQUIRE(save(spec, std::span(hashes).first(4)));
  const auto waiting = watch(hashes);
  BOOST_REQUIRE(waiting);
  BOOST_TEST((*waiting)->missing() == 16U);
  BOOST_TEST(store->stats().watched_keys == 16U);
  BOOST_REQUIRE(save(spec, std::span(hashes).subspan(10, 10)));
  BOOST_TEST((*waiting)->missing() == 6U);
  // Others than it waits for, and those that were there, change nothing.
  const auto others = hash_names(5, "other-");
  BOOST_REQUIRE(save(spec, views(others)));
  BOOST_REQUIRE(save(spec, std::span(hashes).first(4)));
  BOOST_TEST((*waiting)->missing() == 6U);
  BOOST_TEST(completed == 0);
  BOOST_REQUIRE(save(spec, std::span(hashes).subspan(4, 6)));
  BOOST_TEST((*waiting)->missing() == 0U);
  BOOST_TEST(completed == 1);
  BOOST_TEST(store->stats().watched_keys == 0U);
}

BOOST_AUTO_TEST_CASE(of_what_is_there_waits_for_nothing) {
  BOOST_REQUIRE(save(spec, hashes));
  const auto waiting = watch(hashes);
  BOOST_REQUIRE(waiting);
  BOOST_TEST((*waiting)->missing() == 0U);
  BOOST_TEST(completed == 0);
}

BOOST_AUTO_TEST_CASE(tells_namespaces_apart) {
  // The same bytes in a row, with the border elsewhere.
  const std::vector<std::string_view> shorter{"s-key"};
  const std::vector<std::string_view> longer{"key"};
  const auto first = watch(shorter, kAlice, "n");
  const auto second = watch(longer, kAlice, "ns-");
  SaveSpec other = spec;
  other.name_space = "n";
  BOOST_REQUIRE(save(other, shorter));
  BOOST_TEST((*first)->missing() == 0U);
  BOOST_TEST((*second)->missing() == 1U);
}

BOOST_AUTO_TEST_CASE(leaves_nothing_behind_when_it_goes) {
  auto first = watch(std::span(hashes).first(10));
  auto second = watch(std::span(hashes).subspan(5, 10));
  BOOST_REQUIRE(first);
  BOOST_REQUIRE(second);
  BOOST_TEST(store->stats().watches == 2U);
  BOOST_TEST(store->stats().watched_keys == 15U);
  BOOST_REQUIRE(save(spec, std::span(hashes).first(7)));
  first->reset();
  BOOST_TEST(store->stats().watched_keys == 8U);
  BOOST_REQUIRE(save(spec, std::span(hashes).subspan(7, 3)));
  BOOST_TEST(completed == 0);
  second->reset();
  BOOST_TEST(store->stats().watches == 0U);
  BOOST_TEST(store->stats().watched_keys == 0U);
  BOOST_REQUIRE(save(spec, hashes));
  BOOST_TEST(completed == 0);
}

BOOST_AUTO_TEST_CASE(is_bounded_for_each_session_by_number_and_by_keys) {
  std::vector<std::unique_ptr<SealWatch>> held;
  const auto busy = [](const Result<std::unique_ptr<SealWatch>>& result) {
    return !result && result.error().code() == Errc::kBusy;
  };
  const auto names_there = hash_names(1, "there-");
  const auto there = views(names_there);
  BOOST_REQUIRE(save(spec, there));
  held.push_back(std::move(*watch(hashes)));
  BOOST_TEST(busy(watch(std::span(hashes).first(6))));
  held.push_back(std::move(*watch(std::span(hashes).first(5))));
  BOOST_TEST(busy(watch(std::span(hashes).first(1))));
  held.push_back(std::move(*watch(there)));
  BOOST_TEST(busy(watch(there)));
  BOOST_TEST(!busy(watch(hashes, kBob)));
  // What was sealed still counts until the wait is over, and then no more.
  BOOST_REQUIRE(save(spec, hashes));
  BOOST_TEST(busy(watch(there)));
  held.clear();
  const auto more = hash_names(25, "more-");
  BOOST_TEST(!busy(watch(views(more))));
}

BOOST_AUTO_TEST_CASE(checks_its_keys_like_a_query) {
  const std::vector<std::string_view> empty{""};
  const auto refused = watch(empty);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code() == Errc::kInvalidArgument));
  const std::vector<std::string_view> twice{"a", "b", "a"};
  const auto waiting = watch(twice);
  BOOST_REQUIRE(waiting);
  BOOST_TEST((*waiting)->missing() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
