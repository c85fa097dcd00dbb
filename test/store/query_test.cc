#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/store/block_store.h"
#include "test/store/support.h"

namespace corail::testing {
namespace {

struct Fixture : Holder {
  Fixture() { spec.layout = store->intern(layout_of(3, 32, 32)); }
  SaveSpec spec;
  std::vector<std::string> names = hash_names(20);
  std::vector<std::string_view> hashes = views(names);
};

Errc code_of(const Result<QueryAnswer>& answer) {
  return answer ? Errc::kUnset : answer.error().code();
}

BOOST_FIXTURE_TEST_SUITE(queries, Fixture)

BOOST_AUTO_TEST_CASE(a_short_prefix_is_a_success_with_its_count) {
  BOOST_REQUIRE(save(spec, std::span(hashes).first(10)));
  BOOST_REQUIRE(save(spec, std::span(hashes).last(5)));
  const auto answer = query(kAlice, 1, hashes);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->block_count == 10U);
  BOOST_TEST(answer->checksums.size() == 10U);
  BOOST_TEST((answer->layout == spec.layout));
  BOOST_TEST((answer->generation == registry.snapshot()->generation()));
  BOOST_TEST((answer->lease.boot == BootId(77)));
  BOOST_TEST((answer->ttl == std::chrono::seconds(120)));
}

BOOST_AUTO_TEST_CASE(nothing_found_is_a_success_without_a_lease) {
  const auto unknown = query(kAlice, 1, hashes);
  BOOST_REQUIRE(unknown);
  BOOST_TEST(unknown->block_count == 0U);
  BOOST_TEST(unknown->layout == nullptr);
  BOOST_REQUIRE(save(spec, std::span(hashes).last(1)));
  const auto hole = query(kAlice, 2, hashes);
  BOOST_REQUIRE(hole);
  BOOST_TEST(hole->block_count == 0U);
  BOOST_TEST(store->stats().leases == 0U);
}

BOOST_AUTO_TEST_CASE(a_block_that_differs_ends_the_prefix) {
  SaveSpec other;
  other.layout = store->intern(layout_of(3, 32, 33));
  BOOST_REQUIRE(save(spec, std::span(hashes).first(4)));
  BOOST_REQUIRE(save(other, std::span(hashes).subspan(4, 4)));
  const auto answer = query(kAlice, 1, hashes);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->block_count == 4U);
}

BOOST_AUTO_TEST_CASE(namespaces_are_apart) {
  BOOST_REQUIRE(save(spec, hashes));
  QueryRequest request;
  request.session = kAlice;
  request.read = ReadId(1);
  request.name_space = "n";
  request.hashes = hashes;
  const auto answer = store->query_for_transfer(request);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->block_count == 0U);
}

BOOST_AUTO_TEST_CASE(what_a_requester_may_not_ask) {
  BOOST_REQUIRE(save(spec, hashes));
  BOOST_TEST((code_of(query(kAlice, 1, {})) == Errc::kInvalidArgument));
  const std::string long_hash(kMaxHashBytes + 1, 'x');
  const std::vector<std::string_view> too_long{hashes[0], long_hash};
  BOOST_TEST((code_of(query(kAlice, 1, too_long)) == Errc::kInvalidArgument));
  const std::vector<std::string_view> empty_hash{hashes[0], std::string_view()};
  BOOST_TEST((code_of(query(kAlice, 1, empty_hash)) == Errc::kInvalidArgument));
  const std::vector<std::string_view> twice{hashes[0], hashes[1], hashes[0]};
  BOOST_TEST((code_of(query(kAlice, 1, twice)) == Errc::kInvalidArgument));
  QueryRequest request;
  const std::string long_name(kMaxNamespaceBytes + 1, 'x');
  request.name_space = long_name;
  request.hashes = hashes;
  BOOST_TEST((code_of(store->query_for_transfer(request)) == Errc::kInvalidArgument));
  BOOST_TEST(store->stats().leases == 0U);

  StoreOptions options = one_node(1 << 16);
  options.max_hashes = 19;
  Holder small(options);
  BOOST_TEST((code_of(small.query(kAlice, 1, hashes)) == Errc::kTooLarge));
}

BOOST_AUTO_TEST_CASE(an_answer_has_a_bound) {
  StoreOptions options = one_node(1 << 20);
  options.max_answer_runs = 30;
  Holder holder(options);
  SaveSpec scattered;
  scattered.layout = holder.store->intern(layout_of(3, 32, 32));  // 6 lanes
  for (int i = 19; i >= 0; i -= 2) {
    BOOST_REQUIRE(
        holder.save(scattered, std::span(hashes).subspan(static_cast<std::size_t>(i), 1)));
  }
  for (std::size_t i = 0; i < 20; i += 2) {
    BOOST_REQUIRE(holder.save(scattered, std::span(hashes).subspan(i, 1)));
  }
  const auto answer = holder.query(kAlice, 1, hashes);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->block_count > 1U);
  BOOST_TEST(answer->block_count < 20U);
  BOOST_TEST(answer->runs.runs() <= 30U);
}

BOOST_AUTO_TEST_CASE(an_answer_of_few_runs_over_many_ranges_has_the_same_bound) {
  StoreOptions options = one_node(1 << 20);
  options.max_answer_runs = 30;
  Holder holder(options);
  SaveSpec lanes;
  lanes.layout = holder.store->intern(layout_of(3, 32, 32));  // 6 lanes
  lanes.order = BlockOrder::kLaneMajor;
  BOOST_REQUIRE(holder.save(lanes, hashes));
  const auto dense = holder.query(kAlice, 1, hashes);
  BOOST_REQUIRE(dense);
  BOOST_TEST(dense->block_count == 20U);
  std::vector<std::string_view> every_second;
  for (std::size_t i = 0; i < 20; i += 2) every_second.push_back(hashes[i]);
  // Six runs, but six ranges for each block.
  const auto answer = holder.query(kAlice, 2, every_second);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->runs.runs() == 6U);
  BOOST_TEST(answer->block_count == 5U);
}

BOOST_AUTO_TEST_CASE(a_lane_major_save_answers_with_a_run_a_lane) {
  spec.order = BlockOrder::kLaneMajor;
  BOOST_REQUIRE(save(spec, hashes));
  const auto answer = query(kAlice, 1, hashes);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->runs.runs() == 6U);
  for (std::size_t run = 0; run < 6; ++run) {
    BOOST_TEST(answer->runs.stride[run] == 32);
    BOOST_TEST(answer->runs.count[run] == 20U);
  }
}

BOOST_AUTO_TEST_CASE(parts_are_answered_unless_runs_are_shorter) {
  Holder holder;
  SaveSpec whole;
  whole.layout = holder.store->intern(layout_of(4, 64, 64));
  SaveSpec split = whole;  // a part for each of its eight lanes
  split.part_of_lane = {0, 1, 2, 3, 4, 5, 6, 7};
  split.part_numa.assign(8, 0);
  const auto sixteen = hash_names(16, "either-");
  const auto all = views(sixteen);
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Eight blocks that are divided alike, then each differently from the one before.
    const bool in_one = i < 8 || i % 2 == 0;
    BOOST_REQUIRE(holder.save(in_one ? whole : split, std::span(all).subspan(i, 1)));
  }
  const auto encoding_of = [&](std::uint64_t read, std::span<const std::string_view> asked) {
    QueryRequest request;
    request.session = kAlice;
    request.read = ReadId(read);
    request.name_space = "ns";
    request.hashes = asked;
    request.encoding = AnswerEncoding::kParts;
    const auto answer = holder.store->query_for_transfer(request);
    BOOST_REQUIRE(answer.ok());
    BOOST_TEST((answer->parts.runs() > 0) == (answer->encoding == AnswerEncoding::kParts));
    BOOST_TEST((answer->runs.runs() > 0) == (answer->encoding == AnswerEncoding::kRuns));
    return answer->encoding;
  };
  BOOST_TEST((encoding_of(1, std::span(all).first(8)) == AnswerEncoding::kParts));
  BOOST_TEST((encoding_of(2, std::span(all).subspan(8)) == AnswerEncoding::kRuns));
}

BOOST_AUTO_TEST_CASE(options_that_cannot_be_are_named_when_it_starts) {
  const auto starts = [](const StoreOptions& options) {
    try {
      Holder holder(options);
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  StoreOptions options;
  BOOST_TEST(!starts(options));
  options.nodes = {{0, kMiB}, {0, kMiB}};
  BOOST_TEST(!starts(options));
  options.nodes = {{0, 0}};
  BOOST_TEST(!starts(options));
  options.nodes = {{0, std::uint64_t{1} << 60}};
  BOOST_TEST(!starts(options));
  options = one_node(kMiB);
  options.max_lease_ttl = std::chrono::seconds(1);
  BOOST_TEST(!starts(options));
  options = one_node(kMiB);
  options.backing = SlabBacking::kMemfd;
  options.huge_pages = true;
  BOOST_TEST(starts(options));
}

BOOST_AUTO_TEST_CASE(regions_are_published_while_the_store_lives) {
  BOOST_TEST(registry.snapshot()->regions().size() == 1U);
  BOOST_TEST(store->describe().size() == 1U);
  store.reset();
  BOOST_TEST(registry.snapshot()->regions().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
