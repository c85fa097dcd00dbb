// Objects that one node puts into the store of another, over rails.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <vector>

#include "engine/object/descriptor_check.h"
#include "test/disk/temporary_directory.h"
#include "test/node/put_nodes.h"
#include "test/node/support.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

PutOptions stripes_of_a_granule(std::uint64_t size) {
  PutOptions options;
  options.size = size;
  options.stripe_size = kGranuleBytes;
  return options;
}

bool holds(PutNodes& nodes, const std::string& key, const std::vector<std::byte>& bytes) {
  const auto stored = nodes.stored(key);
  BOOST_TEST(stored.ok(), describe(stored));
  return stored.ok() && *stored == bytes;
}

BOOST_AUTO_TEST_SUITE(puts_over_rails)

BOOST_AUTO_TEST_CASE(what_is_put_is_what_is_stored) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  const std::vector<std::byte> bytes = put_content(10 * kGranuleBytes + 77, 1);
  const auto put = nodes.put(*peer, "a", bytes, stripes_of_a_granule(0));
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  BOOST_TEST(put->key == "a");
  BOOST_TEST(put->size == bytes.size());
  BOOST_TEST(put->chunks.size() == 11U);
  BOOST_TEST(holds(nodes, "a", bytes));
}

/// Puts an object and reads it back over the same peer.
void there_and_back(PutNodes::Shape shape) {
  PutNodes nodes(std::move(shape));
  const auto peer = nodes.connect();
  const std::vector<std::byte> bytes = put_content(7 * kGranuleBytes + 3, 40);
  const auto put = nodes.put(*peer, "a", bytes, stripes_of_a_granule(0));
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  const auto found = PutNodes::run(nodes.writer(), peer->lookup_object("a"));
  BOOST_REQUIRE_MESSAGE(found.ok(), describe(found));
  BOOST_TEST((*found == *put));
  const auto view =
      PutNodes::run(nodes.writer(), peer->read_by_descriptor(*found, ReadObjectOptions()));
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  std::vector<std::byte> read(view->size());
  view->copy(read);
  BOOST_TEST((read == bytes));
}

BOOST_AUTO_TEST_CASE(what_is_put_is_read_back) {
  there_and_back({});
  const TemporaryDirectory first;
  const TemporaryDirectory second;
  PutNodes::Shape shape;
  shape.directories = {first.path(), second.path()};
  there_and_back(std::move(shape));
}

BOOST_AUTO_TEST_CASE(empty_and_one_byte_objects) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  for (const std::uint64_t size : {0, 1}) {
    const std::vector<std::byte> bytes = put_content(size, 2);
    const auto put = nodes.put(*peer, "small", bytes);
    BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
    BOOST_TEST(holds(nodes, "small", bytes));
  }
}

BOOST_AUTO_TEST_CASE(bytes_come_in_odd_pieces) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  const std::vector<std::byte> bytes = put_content(9 * kGranuleBytes + 5, 3);
  auto put = nodes.begin(*peer, "odd", stripes_of_a_granule(bytes.size()));
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  SeededRandom random(5);
  std::span<const std::byte> left(bytes);
  while (!left.empty()) {
    const std::size_t some = std::min<std::size_t>(left.size(), random.below(600'000));
    const auto written = nodes.write(**put, left.first(some));
    BOOST_REQUIRE_MESSAGE(written.ok(), describe(written));
    left = left.subspan(some);
  }
  const auto committed = nodes.commit(**put);
  BOOST_REQUIRE_MESSAGE(committed.ok(), describe(committed));
  BOOST_TEST((committed->generation == (*put)->generation()));
  BOOST_TEST(holds(nodes, "odd", bytes));
}

BOOST_AUTO_TEST_CASE(nothing_shows_before_the_commit_and_an_abort_leaves_nothing) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  const std::vector<std::byte> bytes = put_content(8 * kGranuleBytes, 4);
  BOOST_REQUIRE(nodes.put(*peer, "warm", bytes, stripes_of_a_granule(0)).ok());
  const ResourceCensus census = nodes.census();
  auto put = nodes.begin(*peer, "a", stripes_of_a_granule(bytes.size()));
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  BOOST_REQUIRE(nodes.write(**put, bytes).ok());
  BOOST_TEST(!nodes.stored("a").ok());
  nodes.abort(**put);
  BOOST_TEST(!nodes.stored("a").ok());
  BOOST_TEST(nodes.stats().open_puts == 0U);
  BOOST_TEST((nodes.commit(**put).error().code() == Errc::kClosed));
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_dropped_is_aborted) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  auto put = nodes.begin(*peer, "a", stripes_of_a_granule(2 * kGranuleBytes));
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  BOOST_REQUIRE(nodes.write(**put, put_content(kGranuleBytes, 5)).ok());
  put->reset();
  BOOST_TEST(comes_true([&] { return nodes.stats().open_puts == 0; }));
}

BOOST_AUTO_TEST_CASE(a_commit_before_all_was_written_leaves_the_put_open) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  const std::vector<std::byte> bytes = put_content(2 * kGranuleBytes, 6);
  const std::span<const std::byte> all(bytes);
  auto put = nodes.begin(*peer, "a", stripes_of_a_granule(bytes.size()));
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  BOOST_REQUIRE(nodes.write(**put, all.first(1)).ok());
  BOOST_TEST((nodes.commit(**put).error().code() == Errc::kByteCountMismatch));
  BOOST_REQUIRE(nodes.write(**put, all.subspan(1)).ok());
  const auto more = nodes.write(**put, all.first(1));
  BOOST_TEST((!more.ok() && more.error().code() == Errc::kInvalidArgument));
  const auto committed = nodes.commit(**put);
  BOOST_REQUIRE_MESSAGE(committed.ok(), describe(committed));
  BOOST_TEST(holds(nodes, "a", bytes));
}

BOOST_AUTO_TEST_CASE(a_condition_on_the_generation_is_kept) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  const std::vector<std::byte> first = put_content(1000, 7);
  PutOptions fresh;
  fresh.if_generation = ObjectGeneration(0);
  const auto put = nodes.put(*peer, "a", first, fresh);
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  const auto again = nodes.put(*peer, "a", put_content(1000, 8), fresh);
  BOOST_TEST((!again.ok() && again.error().code() == Errc::kGenerationChanged));
  BOOST_TEST(holds(nodes, "a", first));
  // One that holds as the put begins, and no more when it is committed.
  PutOptions next;
  next.size = 1000;
  next.if_generation = put->generation;
  const std::vector<std::byte> late = put_content(1000, 9);
  auto slow = nodes.begin(*peer, "a", next);
  BOOST_REQUIRE_MESSAGE(slow.ok(), describe(slow));
  BOOST_REQUIRE(nodes.write(**slow, late).ok());
  const std::vector<std::byte> other = put_content(1000, 10);
  BOOST_REQUIRE(nodes.put(*peer, "a", other).ok());
  const auto committed = nodes.commit(**slow);
  BOOST_TEST((!committed.ok() && committed.error().code() == Errc::kGenerationChanged));
  BOOST_TEST(holds(nodes, "a", other));
}

BOOST_AUTO_TEST_CASE(arguments_are_checked_before_anything_is_sent) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  PutOptions options;
  BOOST_TEST((nodes.begin(*peer, "", options).error().code() == Errc::kInvalidArgument));
  options.stripe_size = 1000;
  BOOST_TEST((nodes.begin(*peer, "a", options).error().code() == Errc::kInvalidArgument));
  options.stripe_size = kGranuleBytes;
  options.size = (kMaxObjectStripes + 1) * kGranuleBytes;
  BOOST_TEST((nodes.begin(*peer, "a", options).error().code() == Errc::kTooLarge));
  options.size = 1;
  options.deadline = Duration::zero();
  BOOST_TEST((nodes.begin(*peer, "a", options).error().code() == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_CASE(a_put_that_finds_no_room_is_refused_or_waits) {
  PutNodes::Shape shape;
  shape.put_bytes = 2 * kGranuleBytes;
  PutNodes nodes(shape);
  const auto peer = nodes.connect();
  auto first = nodes.begin(*peer, "a", stripes_of_a_granule(2 * kGranuleBytes));
  BOOST_REQUIRE_MESSAGE(first.ok(), describe(first));
  PutOptions refused = stripes_of_a_granule(kGranuleBytes);
  refused.when_full = WhenFull::kRefuse;
  const auto second = nodes.begin(*peer, "b", refused);
  BOOST_TEST((!second.ok() && second.error().code() == Errc::kQuotaExceeded));
  PutOptions patient = stripes_of_a_granule(kGranuleBytes);
  patient.deadline = milliseconds(20);
  const auto third = nodes.begin(*peer, "c", patient);
  BOOST_TEST((!third.ok() && third.error().code() == Errc::kDeadline));
  nodes.abort(**first);
  BOOST_TEST(nodes.put(*peer, "d", put_content(kGranuleBytes, 11), stripes_of_a_granule(0)).ok());
}

BOOST_AUTO_TEST_CASE(a_put_that_is_cancelled_or_late_is_over) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  PutOptions options = stripes_of_a_granule(3 * kGranuleBytes);
  auto cancelled = nodes.begin(*peer, "a", options);
  BOOST_REQUIRE_MESSAGE(cancelled.ok(), describe(cancelled));
  BOOST_REQUIRE(nodes.write(**cancelled, put_content(100, 12)).ok());
  options.cancel.cancel();
  const auto written = nodes.write(**cancelled, put_content(kGranuleBytes, 12));
  BOOST_TEST((!written.ok() && written.error().code() == Errc::kCancelled));
  BOOST_TEST((nodes.commit(**cancelled).error().code() == Errc::kCancelled));
  BOOST_TEST(nodes.stats().open_puts == 0U);

  PutOptions brief = stripes_of_a_granule(3 * kGranuleBytes);
  brief.deadline = milliseconds(50);
  auto late = nodes.begin(*peer, "a", brief);
  BOOST_REQUIRE_MESSAGE(late.ok(), describe(late));
  BOOST_TEST(comes_true([&] { return !nodes.write(**late, put_content(1, 13)).ok(); }));
  BOOST_TEST((nodes.commit(**late).error().code() == Errc::kDeadline));
  BOOST_TEST(nodes.stats().open_puts == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
