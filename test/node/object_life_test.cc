// What becomes of reads of objects that change, go, or are given up.
#include <fmt/core.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "test/node/ready_object.h"
#include "test/node/support.h"
#include "test/support/canary.h"
#include "test/support/repetitions.h"

namespace corail::test {
namespace {

/// Changes a byte of the stripes that lie on the first of the owner's disks.
void spoil(const ObjectNodes& nodes, std::uint64_t offset) {
  for (const auto& entry : std::filesystem::directory_iterator(nodes.directory(0))) {
    if (entry.path().extension() != ".stripes") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const char old = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(old ^ 1));
  }
}

BOOST_AUTO_TEST_SUITE(object_life)

BOOST_DATA_TEST_CASE(a_generation_that_is_not_the_present_one_is_not_opened, kKinds) {
  ReadyObject pair(sample);
  BOOST_REQUIRE(pair.nodes.put("a", 2, kObjectBytes).ok());
  for (const ObjectConsistency wanted :
       {ObjectConsistency::kStrict, ObjectConsistency::kSnapshot}) {
    ReadObjectOptions options = pair.options();
    options.consistency = wanted;
    const auto view = pair.read(options);
    BOOST_TEST((!view.ok() && view.error().code() == Errc::kGenerationChanged), describe(view));
  }
  pair.look_up();
  const auto view = pair.read(pair.options());
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  BOOST_TEST(wrong_bytes(*view, 2, {{0, kObjectBytes}}) == 0U);
}

BOOST_DATA_TEST_CASE(a_strict_read_fails_when_its_object_is_replaced_meanwhile, kKinds) {
  ReadyObject pair(sample, kObjectBytes, slow_objects());
  const ResourceCensus census = pair.nodes.census();
  const auto staged = pair.nodes.stage("a", 2, kObjectBytes);
  BOOST_REQUIRE(staged.ok());
  auto running = pair.start(pair.options());
  BOOST_REQUIRE(pair.nodes.commit(*staged).ok());
  const auto view = running.get();
  BOOST_TEST((!view.ok() && view.error().code() == Errc::kGenerationChanged), describe(view));
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_DATA_TEST_CASE(a_snapshot_is_committed_although_its_object_was_replaced, kKinds) {
  ReadyObject pair(sample, kObjectBytes, slow_objects());
  const ResourceCensus census = pair.nodes.census();
  ReadObjectOptions options = pair.options();
  options.consistency = ObjectConsistency::kSnapshot;
  {
    const auto staged = pair.nodes.stage("a", 2, kObjectBytes);
    BOOST_REQUIRE(staged.ok());
    auto running = pair.start(options);
    BOOST_REQUIRE(pair.nodes.commit(*staged).ok());
    const auto view = running.get();
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(wrong_bytes(*view, 1, {{0, kObjectBytes}}) == 0U);
  }
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_DATA_TEST_CASE(an_object_that_is_deleted_is_not_there, kKinds) {
  ReadyObject pair(sample);
  BOOST_TEST((pair.nodes.lookup(*pair.peer, "b").error().code() == Errc::kNotFound));
  const auto other =
      pair.nodes.erase(*pair.peer, "a", ObjectGeneration(pair.object.generation.value() + 1));
  BOOST_TEST((!other.ok() && other.error().code() == Errc::kGenerationChanged), describe(other));
  const auto deleted = pair.nodes.erase(*pair.peer, "a", pair.object.generation);
  BOOST_REQUIRE_MESSAGE(deleted.ok(), describe(deleted));
  BOOST_TEST((*deleted == pair.object.generation));
  BOOST_TEST((pair.nodes.lookup(*pair.peer, "a").error().code() == Errc::kNotFound));
  const auto view = pair.read(pair.options());
  BOOST_TEST((!view.ok() && view.error().code() == Errc::kNotFound), describe(view));
  const auto again = pair.nodes.erase(*pair.peer, "a", std::nullopt);
  BOOST_TEST((!again.ok() && again.error().code() == Errc::kNotFound), describe(again));
}

BOOST_DATA_TEST_CASE(a_strict_read_fails_when_its_object_is_deleted_meanwhile, kKinds) {
  ReadyObject pair(sample, kObjectBytes, slow_objects());
  const ResourceCensus census = pair.nodes.census();
  auto running = pair.start(pair.options());
  BOOST_REQUIRE(pair.nodes.erase(*pair.peer, "a", std::nullopt).ok());
  const auto view = running.get();
  BOOST_TEST((!view.ok() && view.error().code() == Errc::kGenerationChanged), describe(view));
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_DATA_TEST_CASE(a_cancelled_read_gives_everything_back, kKinds) {
  ReadyObject pair(sample, kObjectBytes, slow_objects());
  const ResourceCensus census = pair.nodes.census();
  std::vector<std::byte> memory(kObjectBytes);
  const Canary canary(memory, 3);
  ReadObjectOptions options = pair.options();
  CancelToken token;
  options.cancel = token;
  options.copy_on_commit = memory;
  auto running = pair.start(options);
  token.cancel();
  const auto view = running.get();
  BOOST_TEST((!view.ok() && view.error().code() == Errc::kCancelled), describe(view));
  BOOST_TEST(pair.nodes.reader().memory().outstanding_bytes() == 0U);
  BOOST_TEST(!first_difference(memory, 3, 0).has_value());
  BOOST_TEST(census.lasting_difference() == "");
  BOOST_TEST(pair.read(pair.options({{kMiB, 5}})).ok());
}

BOOST_DATA_TEST_CASE(a_read_past_its_deadline_gives_everything_back, kKinds) {
  ReadyObject pair(sample, kObjectBytes, slow_objects());
  const ResourceCensus census = pair.nodes.census();
  ReadObjectOptions options = pair.options();
  options.deadline = std::chrono::milliseconds(10);
  const auto view = pair.read(options);
  BOOST_TEST((!view.ok() && view.error().code() == Errc::kDeadline), describe(view));
  BOOST_TEST(census.lasting_difference() == "");
}

/// The memory of reads that were cancelled at any time is filled, and looked at later: what changed
/// it came after the read had returned (I1).
BOOST_DATA_TEST_CASE(nothing_is_written_once_a_cancelled_read_has_returned, kKinds) {
  constexpr int kRounds = repetitions(150);
  ReadyObject pair(sample, kObjectBytes);
  const ResourceCensus census = pair.nodes.census();
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST(pair.read(pair.options()).ok());
  const auto whole = std::chrono::steady_clock::now() - begin;
  SeededRandom random(9);
  int committed = 0;
  for (int round = 0; round < kRounds; ++round) {
    ReadObjectOptions options = pair.options();
    CancelToken token;
    options.cancel = token;
    const auto wait = whole * static_cast<int>(random.below(1200)) / 1000;
    const auto started = std::chrono::steady_clock::now();
    auto running = pair.nodes.start(*pair.peer, pair.object, options);
    while (std::chrono::steady_clock::now() - started < wait) {
    }
    token.cancel();
    const auto view = running.get();
    if (view.ok()) {
      ++committed;
      BOOST_TEST(wrong_bytes(*view, 1, {{0, kObjectBytes}}) == 0U);
      continue;
    }
    BOOST_TEST((view.error().code() == Errc::kCancelled), describe(view));
    BOOST_TEST(pair.nodes.reader().memory().outstanding_bytes() == 0U);
    // The same memory again, as the pool takes the first that is free.
    const auto chunk = pair.nodes.reader().memory().allocate(kObjectBytes, -1);
    BOOST_REQUIRE(chunk.ok());
    const Canary canary(chunk->bytes(), static_cast<std::uint64_t>(round));
    BOOST_TEST(pair.nodes.lookup(*pair.peer, "a").ok());
    const auto late = first_difference(chunk->bytes(), static_cast<std::uint64_t>(round), 0);
    BOOST_TEST(!late.has_value());
  }
  BOOST_TEST(census.lasting_difference() == "");
  fmt::print("{}: {} reads of objects cancelled at random times: {} committed\n", sample.name,
             kRounds, committed);
}

BOOST_DATA_TEST_CASE(leases_and_orders_go_with_the_session, kKinds) {
  ReadyObject pair(sample, kObjectBytes, slow_objects());
  auto running = pair.start(pair.options());
  BOOST_TEST(pair.nodes.stats().leases == 1U);
  pair.nodes.close(*pair.peer);
  const auto view = running.get();
  BOOST_TEST((!view.ok() && view.error().code() == Errc::kConnectionLost), describe(view));
  BOOST_TEST(comes_true([&] { return pair.nodes.stats().leases == 0; }));
  BOOST_TEST(pair.nodes.reader().memory().outstanding_bytes() == 0U);
}

BOOST_DATA_TEST_CASE(an_owner_that_closes_ends_the_read, kKinds) {
  ReadyObject pair(sample, kObjectBytes, slow_objects());
  auto running = pair.start(pair.options());
  pair.nodes.close_owner();
  const auto view = running.get();
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().error_class() == ErrorClass::kTransport), describe(view));
  BOOST_TEST(pair.nodes.reader().memory().outstanding_bytes() == 0U);
}

BOOST_AUTO_TEST_CASE(a_disk_that_lies_is_named_by_its_owner) {
  ReadyObject pair(kKinds.back());
  // Of the second stripe on that disk, which is the third of the object.
  spoil(pair.nodes, kMiB + 5 * kKiB);
  const auto view = pair.read(pair.options());
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kStoreFailed), describe(view));
  BOOST_TEST(view.error().detail().find("stripe 2") != std::string::npos, describe(view));
  BOOST_TEST(view.error().detail().find(pair.nodes.directory(0)) != std::string::npos,
             describe(view));
  BOOST_TEST(pair.read(pair.options({{0, 2 * kMiB}})).ok());
  BOOST_TEST(pair.read(pair.options({{2 * kMiB + kGranuleBytes, kMiB}})).ok());
}

BOOST_AUTO_TEST_CASE(bytes_that_do_not_hash_to_the_descriptors_sums_are_not_handed_over) {
  for (const Kind& kind : kKinds) {
    ReadyObject pair(kind);
    const ResourceCensus census = pair.nodes.census();
    ObjectDescriptor& object = pair.object;
    object.chunks[3].checksum = Checksum64(object.chunks[3].checksum.value() ^ 1);
    const auto view = pair.read(pair.options());
    BOOST_TEST((!view.ok() && view.error().code() == Errc::kChecksumMismatch), describe(view));
    BOOST_TEST(census.lasting_difference() == "");
  }
}

BOOST_AUTO_TEST_CASE(keys_are_listed_page_by_page) {
  ReadyObject pair(kKinds.front(), 1);
  for (const std::string key : {"b/1", "b/2", "b/3", "c"}) {
    BOOST_REQUIRE(pair.nodes.put(key, 1, 7).ok());
  }
  ListObjectsRequest page;
  page.most = 2;
  page.prefix = "b/";
  const auto first = pair.nodes.list(*pair.peer, page);
  BOOST_REQUIRE_MESSAGE(first.ok(), describe(first));
  BOOST_REQUIRE(first->size() == 2U);
  BOOST_TEST((first->at(0).key == "b/1" && first->at(1).key == "b/2"));
  BOOST_TEST(first->at(0).size == 7U);
  page.after = first->back().key;
  const auto second = pair.nodes.list(*pair.peer, page);
  BOOST_REQUIRE_MESSAGE(second.ok(), describe(second));
  BOOST_REQUIRE(second->size() == 1U);
  BOOST_TEST(second->front().key == "b/3");
  BOOST_TEST(pair.nodes.list(*pair.peer, ListObjectsRequest())->size() == 5U);
  page.most = 0;
  const auto none = pair.nodes.list(*pair.peer, page);
  BOOST_TEST((!none.ok() && none.error().code() == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
