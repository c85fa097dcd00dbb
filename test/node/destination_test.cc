// Reads of objects that land in memory of the caller's own, over sockets of this machine.
#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "test/node/landing_memory.h"
#include "test/node/ready_object.h"
#include "test/node/support.h"
#include "test/support/canary.h"
#include "test/support/repetitions.h"

namespace corail::test {
namespace {

/// The bytes that lie in the memory from `at` on are those of the object from `offset` on.
bool has_object(LandingMemory& memory, std::uint64_t at, std::uint64_t offset,
                std::uint64_t length) {
  static const std::vector<std::byte> object = object_bytes(1, kObjectBytes);
  return std::ranges::equal(memory.bytes().subspan(at, length),
                            std::span(object).subspan(offset, length));
}

/// Begins, and returns when the owner has leased the object, hence when the read has its pins.
std::future<Result<ObjectView>> start_leased(ReadyObject& pair, ReadObjectOptions options) {
  auto running = pair.nodes.start(*pair.peer, pair.object, std::move(options));
  const auto over = [&running] {
    return running.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  BOOST_REQUIRE(comes_true([&] { return pair.nodes.stats().leases > 0 || over(); }));
  BOOST_REQUIRE(!over());
  return running;
}

BOOST_AUTO_TEST_SUITE(destination)

BOOST_DATA_TEST_CASE(a_whole_object_lands_in_the_callers_memory, kKinds) {
  ReadyObject pair(sample);
  const ResourceCensus census = pair.nodes.census();
  {
    LandingMemory memory(pair.nodes.reader(), kObjectBytes + 100);
    ReadObjectOptions options = pair.options();
    options.destination = {memory.piece(50, kObjectBytes)};
    const auto view = pair.read(options);
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(has_object(memory, 50, 0, kObjectBytes));
    BOOST_TEST(memory.untouched(0, 50));
    BOOST_TEST(memory.untouched(50 + kObjectBytes, kObjectBytes + 100));
    BOOST_TEST((view->bytes().data() == memory.bytes().data() + 50));
    BOOST_TEST(view->bytes().size() == kObjectBytes);
    BOOST_TEST(view->report().verified_bytes == kObjectBytes);
    BOOST_TEST(pair.nodes.reader().memory().outstanding_bytes() == 0U);
    // The view does not keep the registration: this would never end.
    memory.start_close().get();
  }
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_DATA_TEST_CASE(no_byte_shifts_in_a_sparse_table, kKinds) {
  ReadyObject pair(sample);
  LandingMemory memory(pair.nodes.reader(), 8 * kMiB);
  const std::uint64_t tail = kObjectBytes - 9 * kMiB;
  // From the last to the first in memory, with gaps, some that abut, none with a whole stripe.
  ReadObjectOptions options =
      pair.options({{kMiB / 2, 2 * kMiB}, {5 * kMiB, kMiB}, {9 * kMiB, tail}});
  options.destination = {memory.piece(6 * kMiB + 3, kMiB + kGranuleBytes),
                         memory.piece(5 * kMiB + kGranuleBytes + 3, 3 * kGranuleBytes),
                         memory.piece(3 * kMiB, kGranuleBytes),
                         memory.piece(kMiB + 9, 3 * kGranuleBytes), memory.piece(7, tail)};
  const auto view = pair.read(options);
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  struct Landed {
    std::uint64_t at;
    std::uint64_t offset;
    std::uint64_t length;
  };
  const Landed landed[] = {{7, 9 * kMiB, tail},
                           {kMiB + 9, 5 * kMiB + kGranuleBytes, 3 * kGranuleBytes},
                           {3 * kMiB, 5 * kMiB, kGranuleBytes},
                           {5 * kMiB + kGranuleBytes + 3, 7 * kGranuleBytes, 3 * kGranuleBytes},
                           {6 * kMiB + 3, kMiB / 2, kMiB + kGranuleBytes}};
  std::uint64_t end = 0;
  for (const auto& [at, offset, length] : landed) {
    BOOST_TEST(has_object(memory, at, offset, length), "of " << offset);
    BOOST_TEST(memory.untouched(end, at), "before " << at);
    end = at + length;
  }
  BOOST_TEST(memory.untouched(end, 8 * kMiB));
  BOOST_TEST(wrong_bytes(*view, 1, options.ranges) == 0U);
  BOOST_TEST(view->report().read_bytes == 3 * kMiB + tail);
}

BOOST_DATA_TEST_CASE(a_part_without_the_first_stripe_needs_memory_for_no_more_than_itself, kKinds) {
  // Windows that are smaller than the object, and memory that is, too.
  ObjectNodes::Shape shape;
  shape.max_read_bytes = kGranuleBytes;
  shape.window_bytes = 2 * kGranuleBytes;
  ReadyObject pair(sample, kObjectBytes, shape);
  LandingMemory memory(pair.nodes.reader(), 5 * kMiB);
  ReadObjectOptions options = pair.options({{3 * kMiB, 5 * kMiB}});
  options.destination = {memory.piece(0, 5 * kMiB)};
  const auto view = pair.read(options);
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  BOOST_TEST(has_object(memory, 0, 3 * kMiB, 5 * kMiB));
}

BOOST_DATA_TEST_CASE(memory_of_several_registrations_is_one_list, kKinds) {
  ReadyObject pair(sample);
  LandingMemory first(pair.nodes.reader(), 4 * kMiB);
  LandingMemory second(pair.nodes.reader(), kObjectBytes);
  ReadObjectOptions options = pair.options();
  options.destination = {second.piece(kMiB, 2 * kMiB), first.piece(0, 4 * kMiB),
                         second.piece(3 * kMiB, kObjectBytes - 6 * kMiB)};
  const auto view = pair.read(options);
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  BOOST_TEST(has_object(second, kMiB, 0, 2 * kMiB));
  BOOST_TEST(has_object(first, 0, 2 * kMiB, 4 * kMiB));
  BOOST_TEST(has_object(second, 3 * kMiB, 6 * kMiB, kObjectBytes - 6 * kMiB));
  BOOST_TEST(second.untouched(0, kMiB));
  BOOST_TEST(second.untouched(kObjectBytes - 3 * kMiB, kObjectBytes));
}

BOOST_AUTO_TEST_CASE(lists_that_make_no_sense_are_refused_before_anything_is_sent) {
  ReadyObject pair(kKinds.front());
  LandingMemory memory(pair.nodes.reader(), 2 * kMiB);
  LandingMemory others(pair.nodes.owner(), 2 * kMiB);
  // Whatever is sent would be answered with this: it is not there any more.
  BOOST_REQUIRE(pair.nodes.erase(*pair.peer, "a", pair.object.generation).ok());
  using Pieces = std::vector<DestinationPiece>;
  const auto code_of = [&](std::vector<ObjectRange> ranges, Pieces pieces) {
    ReadObjectOptions options = pair.options(std::move(ranges));
    options.destination = std::move(pieces);
    const auto view = pair.read(options);
    return view.ok() ? Errc::kUnset : view.error().code();
  };
  const std::vector<ObjectRange> asked = {{kMiB, kMiB}};
  constexpr std::uint64_t kHuge = ~std::uint64_t{0};
  BOOST_TEST((code_of(asked, {memory.piece(0, kMiB)}) == Errc::kNotFound));
  const Pieces wrong[] = {
      {memory.piece(0, kMiB - 1)},
      {memory.piece(0, kMiB + kGranuleBytes)},
      {memory.piece(kMiB + 1, kMiB)},
      {memory.piece(kHuge, kMiB)},
      {memory.piece(0, kHuge)},
      {memory.piece(0, kMiB), memory.piece(kMiB, 0)},
      {memory.piece(0, kMiB / 2), memory.piece(kMiB / 2 - 1, kMiB / 2)},
      {memory.piece(0, kMiB / 2), memory.piece(0, kMiB / 2)},
      {memory.piece(0, kMiB / 2 + 1), memory.piece(kMiB, kMiB / 2 - 1)},
      {memory.piece(0, kMiB / 2), others.piece(0, kMiB / 2)},
      {DestinationPiece()},
      Pieces(kMaxDestinationPieces + 1, memory.piece(0, 1)),
  };
  for (const Pieces& pieces : wrong) {
    BOOST_TEST((code_of(asked, pieces) == Errc::kInvalidArgument), "pieces " << pieces.size());
  }
  // Ranges that would have to be widened.
  BOOST_TEST((code_of({{kMiB, kMiB - 1}}, {memory.piece(0, kMiB - 1)}) == Errc::kInvalidArgument));
  BOOST_TEST((code_of({{kMiB + 1, kMiB}}, {memory.piece(0, kMiB)}) == Errc::kInvalidArgument));
  std::vector<std::byte> copy(kMiB);
  ReadObjectOptions both = pair.options(asked);
  both.destination = {memory.piece(0, kMiB)};
  both.copy_on_commit = copy;
  BOOST_TEST((pair.read(both).error().code() == Errc::kInvalidArgument));
  const DestinationPiece piece = memory.piece(0, kMiB);
  memory.start_close().get();
  BOOST_TEST((code_of(asked, {piece}) == Errc::kClosed));
  BOOST_TEST(memory.untouched(0, 2 * kMiB));
}

BOOST_AUTO_TEST_CASE(memory_is_registered_once_at_a_time) {
  ReadyObject pair(kKinds.front(), 1);
  Node& node = pair.nodes.reader();
  LandingMemory memory(node, kMiB);
  const auto code_of = [&node](std::span<std::byte> bytes) {
    const auto made =
        asio::co_spawn(node.executor(), node.register_memory(bytes), asio::use_future).get();
    return made.ok() ? Errc::kUnset : made.error().code();
  };
  BOOST_TEST((code_of(memory.bytes().subspan(5, 1)) == Errc::kInvalidArgument));
  BOOST_TEST((code_of({}) == Errc::kInvalidArgument));
  memory.start_close().get();
  // Ended by the destructor of its handle.
  BOOST_TEST((code_of(memory.bytes()) == Errc::kUnset));
  BOOST_TEST((code_of(memory.bytes().subspan(5, 1)) == Errc::kUnset));
}

BOOST_DATA_TEST_CASE(closing_waits_for_the_read_that_lands_there, kKinds) {
  ReadyObject pair(sample, kObjectBytes, slow_objects());
  LandingMemory memory(pair.nodes.reader(), kObjectBytes);
  ReadObjectOptions options = pair.options();
  options.destination = {memory.piece(0, kObjectBytes)};
  auto running = start_leased(pair, options);
  auto closing = memory.start_close();
  // Round trips of another kind go through the same threads meanwhile, so it has begun by then.
  for (int i = 0; i < 5; ++i) BOOST_TEST(pair.nodes.lookup(*pair.peer, "a").ok());
  const auto closed = [&closing] {
    return closing.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  // In this order: a read that ends between the two looks proves nothing, and fails nothing.
  const bool early = closed();
  const bool over = running.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  BOOST_TEST((!early || over));
  const auto late = pair.read(options);
  BOOST_TEST((!late.ok() && late.error().code() == Errc::kClosed), describe(late));
  const auto view = running.get();
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  closing.get();
  BOOST_TEST(has_object(memory, 0, 0, kObjectBytes));
}

/// Memory of reads that were cancelled at any time is filled as soon as they have returned, and
/// looked at later (I1).
BOOST_DATA_TEST_CASE(nothing_lands_once_a_cancelled_read_has_returned, kKinds) {
  constexpr int kRounds = repetitions(100);
  ReadyObject pair(sample, kObjectBytes);
  LandingMemory memory(pair.nodes.reader(), kObjectBytes);
  const ResourceCensus census = pair.nodes.census();
  ReadObjectOptions options = pair.options();
  options.destination = {memory.piece(0, kObjectBytes)};
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST(pair.read(options).ok());
  const auto whole = std::chrono::steady_clock::now() - begin;
  SeededRandom random(9);
  int cancelled = 0;
  for (int round = 0; round < kRounds; ++round) {
    CancelToken token;
    options.cancel = token;
    const auto wait = whole * static_cast<int>(random.below(1000)) / 1000;
    const auto started = std::chrono::steady_clock::now();
    auto running = pair.nodes.start(*pair.peer, pair.object, options);
    while (std::chrono::steady_clock::now() - started < wait) {
    }
    token.cancel();
    const auto view = running.get();
    if (view.ok()) {
      BOOST_TEST(has_object(memory, 0, 0, kObjectBytes));
      continue;
    }
    ++cancelled;
    BOOST_TEST((view.error().code() == Errc::kCancelled), describe(view));
    const auto seed = static_cast<std::uint64_t>(round);
    const Canary next_owner(memory.bytes(), seed);
    BOOST_TEST(pair.nodes.lookup(*pair.peer, "a").ok());
    BOOST_TEST(!first_difference(memory.bytes(), seed, 0).has_value());
  }
  BOOST_TEST(cancelled > 0);
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
