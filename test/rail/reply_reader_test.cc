#include "engine/rail/tcp/reply_reader.h"

#include <algorithm>
#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

#include "engine/base/random.h"
#include "test/rail/recording_sink.h"
#include "test/support/pattern.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kGuard = 4096;
constexpr std::uint64_t kSlices = 6;
constexpr std::uint64_t kMostBytes = 3000;

/// Slices with guards around every destination, and a stream that is fed to their reader.
struct World {
  explicit World(std::uint64_t seed)
      : random(seed),
        memory(kSlices * (kMostBytes + kGuard) + kGuard),
        sink(context.get_executor()) {
    fill_pattern(memory, kGuardSeed, 0);
    for (std::uint64_t i = 0; i < kSlices; ++i) {
      PostedSlice posted;
      posted.slice.destination = memory.data() + kGuard + i * (kMostBytes + kGuard);
      posted.slice.length = 1 + random.below(kMostBytes);
      posted.slice.tag = i;
      posted.sink = &sink;
      slices.add(posted);
      const auto started = slices.start_next();
      keys.push_back(started->first);
      lengths.push_back(posted.slice.length);
      destinations.push_back(posted.slice.destination);
    }
  }

  /// The stream of a correct holder: frames of random sizes, operations interleaved.
  std::vector<std::byte> correct_stream() {
    std::vector<std::byte> stream;
    std::vector<std::uint64_t> sent(kSlices, 0);
    std::vector<std::uint64_t> open;
    for (std::uint64_t i = 0; i < kSlices; ++i) open.push_back(i);
    while (!open.empty()) {
      const std::uint64_t pick = random.below(open.size());
      const std::uint64_t i = open[pick];
      Reply reply;
      reply.op = keys[i];
      reply.offset = sent[i];
      reply.length = 1 + random.below(lengths[i] - sent[i]);
      const ReplyBytes header = encode(reply);
      stream.insert(stream.end(), header.begin(), header.end());
      const std::size_t at = stream.size();
      stream.resize(at + reply.length);
      fill_pattern(std::span(stream).subspan(at), i, sent[i]);
      sent[i] += reply.length;
      if (sent[i] == lengths[i]) open.erase(open.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    return stream;
  }

  /// Feeds the stream in pieces of random sizes, as a socket would. False: the reader refused it.
  bool feed(ReplyReader& reader, std::span<const std::byte> stream) {
    while (!stream.empty()) {
      std::uint64_t left = 1 + random.below(std::min<std::uint64_t>(stream.size(), 2000));
      std::uint64_t moved = 0;
      for (const iovec& target : reader.targets()) {
        const std::size_t part = std::min<std::uint64_t>(left, target.iov_len);
        std::memcpy(target.iov_base, stream.data(), part);
        stream = stream.subspan(part);
        left -= part;
        moved += part;
      }
      BOOST_TEST((moved >= 1 && moved <= reader.room()));
      if (!reader.advance(moved).ok()) return false;
    }
    return true;
  }

  /// Bytes of the guards that are not theirs any more.
  std::uint64_t overwritten() const {
    std::uint64_t changed = 0;
    for (std::uint64_t at = 0; at < memory.size(); ++at) {
      bool inside = false;
      for (std::uint64_t i = 0; i < kSlices; ++i) {
        const auto from = static_cast<std::uint64_t>(destinations[i] - memory.data());
        inside = inside || (at >= from && at < from + lengths[i]);
      }
      if (!inside && memory[at] != pattern_at(kGuardSeed, at)) ++changed;
    }
    return changed;
  }

  static constexpr std::uint64_t kGuardSeed = 99;

  SeededRandom random;
  asio::io_context context;
  std::vector<std::byte> memory;
  RecordingSink sink;
  InFlight slices{kSlices};
  std::vector<OpKey> keys;
  std::vector<std::uint64_t> lengths;
  std::vector<std::byte*> destinations;
};

BOOST_AUTO_TEST_SUITE(reply_reader)

BOOST_AUTO_TEST_CASE(interleaved_frames_in_pieces_of_any_size_land_where_they_belong) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    World world(seed);
    ReplyReader reader(world.slices, 1 + world.random.below(1500));
    BOOST_TEST(world.feed(reader, world.correct_stream()));
    BOOST_TEST(world.sink.count(Errc::kUnset) == kSlices);
    BOOST_TEST(world.sink.breaches() == 0U);
    BOOST_TEST(world.overwritten() == 0U);
    BOOST_TEST(world.slices.outstanding() == 0U);
    for (std::uint64_t i = 0; i < kSlices; ++i) {
      BOOST_TEST(!first_difference(std::span(world.destinations[i], world.lengths[i]), i, 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(damaged_streams_never_write_outside_a_destination) {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    World world(seed);
    ReplyReader reader(world.slices, 1 + world.random.below(1500));
    std::vector<std::byte> stream = world.correct_stream();
    const std::uint64_t damages = 1 + world.random.below(4);
    for (std::uint64_t i = 0; i < damages; ++i) {
      // Near the front, where a header is likely to be hit.
      stream[world.random.below(std::min<std::uint64_t>(stream.size(), 200))] =
          static_cast<std::byte>(world.random.next());
    }
    if (!world.feed(reader, stream)) ++refused;
    world.slices.end_all(Error(Errc::kRailFailed, "the end"));
    BOOST_TEST(world.overwritten() == 0U);
    BOOST_TEST(world.sink.outcome_count() == kSlices);
    BOOST_TEST(world.sink.breaches() == 0U);
  }
  BOOST_TEST(refused > 50U);
}

BOOST_AUTO_TEST_CASE(random_streams_are_refused_before_they_write) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    World world(seed);
    ReplyReader reader(world.slices, 4096);
    std::vector<std::byte> stream(5000);
    for (std::byte& byte : stream) byte = static_cast<std::byte>(world.random.next());
    BOOST_TEST(!world.feed(reader, stream));
    BOOST_TEST(world.sink.landed_bytes() == 0U);
    BOOST_TEST(world.overwritten() == 0U);
  }
}

/// A stream of frames without payload, and whether the reader takes it.
bool takes(World& world, const std::vector<Reply>& replies) {
  ReplyReader reader(world.slices, 4096);
  std::vector<std::byte> stream;
  for (const Reply& reply : replies) {
    const ReplyBytes header = encode(reply);
    stream.insert(stream.end(), header.begin(), header.end());
    if (reply.kind == ReplyKind::kData) stream.resize(stream.size() + reply.length);
  }
  return world.feed(reader, stream);
}

BOOST_AUTO_TEST_CASE(what_a_holder_may_not_say_is_refused) {
  const auto data = [](OpKey op, std::uint64_t offset, std::uint64_t length) {
    Reply reply;
    reply.op = op;
    reply.offset = offset;
    reply.length = length;
    return reply;
  };
  const auto cancelled = [](OpKey op) {
    Reply reply;
    reply.kind = ReplyKind::kCancelled;
    reply.op = op;
    return reply;
  };
  {
    World world(1);
    OpKey stale = world.keys[0];
    ++stale.generation;
    BOOST_TEST(!takes(world, {data(stale, 0, 1)}));
    OpKey outside = world.keys[0];
    outside.slot = 1'000'000;
    BOOST_TEST(!takes(world, {data(outside, 0, 1)}));
    BOOST_TEST(!takes(world, {data(world.keys[0], 1, 1)}));
    BOOST_TEST(!takes(world, {data(world.keys[0], 0, world.lengths[0] + 1)}));
  }
  World world(2);
  BOOST_TEST(takes(world, {data(world.keys[0], 0, world.lengths[0])}));
  BOOST_TEST(!takes(world, {data(world.keys[0], 0, 1)}));
  // Nobody asked for it.
  BOOST_TEST(!takes(world, {cancelled(world.keys[1])}));
  BOOST_TEST(world.sink.count(Errc::kFlushed) == 0U);
  std::vector<Slice> given_up;
  world.slices.give_up(world.sink, given_up);
  BOOST_TEST(takes(world, {cancelled(world.keys[1])}));
  BOOST_TEST(!takes(world, {cancelled(world.keys[1])}));
  BOOST_TEST(world.sink.breaches() == 0U);
}

/// A CANCEL names a read, and ends the slices of all its sinks that were asked for before.
BOOST_AUTO_TEST_CASE(the_fence_of_another_sink_of_the_same_read_flushes) {
  asio::io_context context;
  RecordingSink fenced(context.get_executor());
  RecordingSink other(context.get_executor());
  InFlight slices(4);
  const auto start = [&](SliceSink& sink, ReadId read, std::uint64_t tag) {
    PostedSlice posted;
    posted.slice.length = 100;
    posted.slice.tag = tag;
    posted.context.read = read;
    posted.sink = &sink;
    slices.add(posted);
    return slices.start_next()->first;
  };
  start(fenced, ReadId(1), 0);
  const OpKey same_read = start(other, ReadId(1), 1);
  const OpKey other_read = start(other, ReadId(2), 2);
  std::vector<Slice> given_up;
  BOOST_TEST(slices.give_up(fenced, given_up).size() == 1U);
  const OpKey later = start(other, ReadId(1), 3);
  const auto cancelled = [&](OpKey op) {
    ReplyReader reader(slices, 4096);
    Reply reply;
    reply.kind = ReplyKind::kCancelled;
    reply.op = op;
    const ReplyBytes header = encode(reply);
    const iovec target = reader.targets().front();
    std::memcpy(target.iov_base, header.data(), header.size());
    return reader.advance(header.size()).ok();
  };
  BOOST_TEST(cancelled(same_read));
  BOOST_TEST(other.count(Errc::kFlushed) == 1U);
  BOOST_TEST(!cancelled(other_read));
  BOOST_TEST(!cancelled(later));
  BOOST_TEST(other.outcome_count() == 1U);
}

BOOST_AUTO_TEST_CASE(given_up_slices_are_drained_without_a_trace) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    World world(seed);
    ReplyReader reader(world.slices, 700);
    const std::vector<std::byte> stream = world.correct_stream();
    const std::size_t half = world.random.below(stream.size());
    BOOST_TEST(world.feed(reader, std::span(stream).first(half)));
    const std::size_t ended = world.sink.outcome_count();
    std::vector<Slice> given_up;
    const auto reads = world.slices.give_up(world.sink, given_up);
    BOOST_TEST(reads.size() == (given_up.empty() ? 0U : 1U));
    BOOST_TEST(ended + given_up.size() == kSlices);
    const std::vector<std::byte> before = world.memory;
    const std::uint64_t landed = world.sink.landed_bytes();
    BOOST_TEST(world.feed(reader, std::span(stream).subspan(half)));
    BOOST_TEST((world.memory == before));
    BOOST_TEST(world.sink.landed_bytes() == landed);
    BOOST_TEST(world.sink.outcome_count() == ended);
    BOOST_TEST(world.slices.outstanding() == 0U);
    BOOST_TEST(world.slices.live() == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
