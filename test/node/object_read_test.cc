// Objects of one node, read by another over sockets of this machine: pulled from its memory, pushed
// from there, pushed from disks.
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/object/object_descriptor.h"
#include "test/node/ready_object.h"
#include "test/node/support.h"
#include "test/support/canary.h"

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(object_read)

BOOST_DATA_TEST_CASE(a_whole_object_is_read_verified_and_given_back, kKinds) {
  ReadyObject pair(sample);
  BOOST_TEST(pair.object.size == kObjectBytes);
  BOOST_TEST(pair.object.chunks.size() == 10U);
  const ResourceCensus census = pair.nodes.census();
  {
    const auto view = pair.read(pair.options());
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(wrong_bytes(*view, 1, {{0, kObjectBytes}}) == 0U);
    BOOST_TEST(view->bytes().size() == kObjectBytes);
    const ReadReport& report = view->report();
    BOOST_TEST(report.needed_bytes == kObjectBytes);
    BOOST_TEST(report.read_bytes == kObjectBytes);
    BOOST_TEST(report.verified_bytes == kObjectBytes);
    BOOST_TEST(report.rails.size() == 2U);
  }
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_DATA_TEST_CASE(ranges_of_any_bytes_are_read_by_whole_granules, kKinds) {
  ReadyObject pair(sample);
  const std::vector<ObjectRange> ranges = {
      {1, 1}, {5, 10}, {kMiB - 3, 7}, {4 * kMiB, 2 * kMiB + 1}, {kObjectBytes - 1, 1}};
  const auto view = pair.read(pair.options(ranges));
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  BOOST_TEST(wrong_bytes(*view, 1, ranges) == 0U);
  BOOST_TEST(view->pieces().size() == ranges.size());
  // The granules at both sides of the first border, 2 MiB and one, and what is left at the end.
  const std::uint64_t read =
      3 * kGranuleBytes + 2 * kMiB + kGranuleBytes + kObjectBytes % kGranuleBytes;
  BOOST_TEST(view->report().read_bytes == read);
  BOOST_TEST(view->report().verified_bytes == read);
}

BOOST_DATA_TEST_CASE(the_stripe_without_which_the_others_come_first_is_not_needed, kKinds) {
  // A window that is smaller than the range, which does not begin with the first stripe.
  ObjectNodes::Shape shape;
  shape.max_read_bytes = kGranuleBytes;
  shape.window_bytes = 2 * kGranuleBytes;
  ReadyObject pair(sample, kObjectBytes, shape);
  const std::vector<ObjectRange> ranges = {{3 * kMiB, 5 * kMiB}};
  const auto view = pair.read(pair.options(ranges));
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  BOOST_TEST(wrong_bytes(*view, 1, ranges) == 0U);
}

BOOST_DATA_TEST_CASE(empty_and_one_byte_objects_are_objects, kKinds) {
  ReadyObject pair(sample);
  const ResourceCensus census = pair.nodes.census();
  for (const std::uint64_t size : {0, 1}) {
    BOOST_REQUIRE(pair.nodes.put("a", 2, size).ok());
    pair.look_up();
    BOOST_TEST(pair.object.size == size);
    const auto view = pair.read(pair.options());
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(view->size() == size);
    BOOST_TEST(view->pieces().size() == size);
    BOOST_TEST(wrong_bytes(*view, 2, {{0, size}}) == 0U);
  }
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_DATA_TEST_CASE(a_copy_has_what_was_asked_for_one_range_after_the_other, kKinds) {
  ReadyObject pair(sample);
  const std::vector<std::vector<ObjectRange>> wishes = {{{3, 5}, {kMiB - 1, kMiB + 2}},
                                                        {{kMiB, 2 * kMiB}}};
  for (const auto& ranges : wishes) {
    std::uint64_t size = 0;
    for (const ObjectRange& range : ranges) size += range.length;
    std::vector<std::byte> memory(size + 64);
    const Canary canary(memory, 11);
    ReadObjectOptions options = pair.options(ranges);
    options.copy_on_commit = memory;
    const auto view = pair.read(options);
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    std::vector<std::byte> copy(size);
    view->copy(copy);
    BOOST_TEST(std::equal(copy.begin(), copy.end(), memory.begin()));
    BOOST_TEST(wrong_bytes(*view, 1, ranges) == 0U);
    BOOST_TEST(!first_difference(std::span(memory).subspan(size), 11, size).has_value());
    options.copy_on_commit = std::span(memory).first(size - 1);
    const auto refused = pair.read(options);
    BOOST_TEST((!refused.ok() && refused.error().code() == Errc::kInvalidArgument));
  }
}

BOOST_AUTO_TEST_CASE(wishes_that_make_no_sense_are_refused_before_anything_is_sent) {
  ReadyObject pair(kKinds.front());
  const auto code_of = [&pair](std::vector<ObjectRange> ranges) {
    const auto view = pair.read(pair.options(std::move(ranges)));
    return view.ok() ? Errc::kUnset : view.error().code();
  };
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  BOOST_TEST((code_of({{0, 0}}) == Errc::kInvalidArgument));
  BOOST_TEST((code_of({{kObjectBytes, 1}}) == Errc::kInvalidArgument));
  BOOST_TEST((code_of({{0, kObjectBytes + 1}}) == Errc::kInvalidArgument));
  BOOST_TEST((code_of({{kHuge, kHuge}}) == Errc::kInvalidArgument));
  BOOST_TEST((code_of({{1, kHuge}}) == Errc::kInvalidArgument));
  BOOST_TEST((code_of({{5, 2}, {6, 2}}) == Errc::kInvalidArgument));
  BOOST_TEST((code_of({{5, 2}, {0, 2}}) == Errc::kInvalidArgument));
  pair.object.nodes.front().id = NodeId(1);
  BOOST_TEST((code_of({}) == Errc::kInvalidArgument));
  pair.object.chunks.pop_back();
  BOOST_TEST((code_of({}) == Errc::kProtocol));
}

BOOST_AUTO_TEST_CASE(what_is_on_disks_cannot_be_pulled) {
  ReadyObject pair(kKinds.back());
  const ResourceCensus census = pair.nodes.census();
  ReadObjectOptions options;
  options.mode = ObjectMode::kPull;
  const auto view = pair.read(options);
  BOOST_TEST((!view.ok() && view.error().code() == Errc::kRefused), describe(view));
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_AUTO_TEST_CASE(more_rails_than_the_other_side_has_ports_push_too) {
  for (const auto& [owner, reader] : {std::pair(1U, 3U), std::pair(3U, 1U)}) {
    ObjectNodes::Shape shape;
    shape.owner_rails = owner;
    shape.reader_rails = reader;
    ReadyObject pair(kKinds[1], kObjectBytes, shape);
    const auto view = pair.read(pair.options());
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(wrong_bytes(*view, 1, {{0, kObjectBytes}}) == 0U);
    BOOST_TEST(view->report().rails.size() == 3U);
  }
}

BOOST_AUTO_TEST_CASE(a_read_without_room_in_the_budget_is_refused) {
  ObjectNodes::Shape shape = slow_objects();
  shape.node_budget_bytes = kObjectBytes;
  ReadyObject pair(kKinds.front(), kObjectBytes, shape);
  const ResourceCensus census = pair.nodes.census();
  {
    auto running = pair.start(pair.options());
    ReadObjectOptions options = pair.options({{0, 1}});
    options.when_full = WhenFull::kRefuse;
    const auto refused = pair.read(options);
    BOOST_TEST((!refused.ok() && refused.error().code() == Errc::kQuotaExceeded),
               describe(refused));
    const auto view = running.get();
    BOOST_TEST(view.ok(), describe(view));
  }
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
