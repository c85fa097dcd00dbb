#include "engine/rail/tcp/channel_turns.h"

#include <array>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/rail/tcp/tcp_limits.h"
#include "engine/rail/tcp/tcp_transport.h"
#include "test/rail/recording_sink.h"
#include "test/rail/run_task.h"
#include "test/rail/tcp_rig.h"
#include "test/support/fake_holder.h"

// Two channels for slices of any length, and the express one, to a holder that answers when it is
// told to.

namespace corail::test {
namespace {

constexpr std::uint64_t kLarge = 32 * kMiB;
constexpr std::uint64_t kSmall = 512 * kKiB;
constexpr ReadContext kOther{ReadId(12), EpochNumber(1)};
/// One turn of each of the two; the last receive of a turn is not cut short.
const std::uint64_t kTurnOfEach = 2 * (kTurnBytes + TcpOptions().receive_bytes);

struct TurnsRig {
  TurnsRig() {
    options.channels = kHolders - 1;
    options.receive_buffer = 8 * kMiB;
  }

  Task<void> connect() {
    asio::co_spawn(context, accept(), asio::detached);
    const auto connected =
        co_await transport.connect(holders[0].endpoint(), clock.now() + std::chrono::seconds(60));
    BOOST_TEST_REQUIRE(connected.ok());
  }

  Task<void> accept() {
    for (std::size_t i = kHolders; i-- > 0;) {
      co_await holders[0].accept();
      if (i > 0) holders[i].take_over(holders[0]);
    }
  }

  /// Both large slices are asked for, and all of them is on its way.
  Task<void> begin_large() {
    transport.post(kRead, slices_over(large, kLarge / 2, 0), large_sink);
    for (FakeHolder* const holder : {&holders[1], &holders[2]}) {
      const Request request = co_await holder->next_request();
      asio::co_spawn(context, flood(*holder, request), asio::detached);
    }
    co_await large_sink.landed(kMiB);
  }

  static Task<void> flood(FakeHolder& holder, Request request) {
    const std::vector<std::byte> frame(kMiB);
    for (std::uint64_t sent = 0; sent < request.length; sent += frame.size()) {
      co_await holder.send_header(request.op, sent, frame.size());
      co_await holder.send(frame);
    }
  }

  /// Until everything that is ready has run, many times over; what landed of the large slices.
  Task<std::uint64_t> settle() {
    const std::uint64_t before = large_sink.landed_bytes();
    for (int i = 0; i < 500; ++i) co_await asio::post(context, asio::use_awaitable);
    co_return large_sink.landed_bytes() - before;
  }

  static constexpr std::size_t kHolders = 3;

  asio::io_context context;
  ManualClock clock;
  TcpOptions options = TcpRig::loopback_options();
  std::array<FakeHolder, kHolders> holders{FakeHolder(context), FakeHolder(context),
                                           FakeHolder(context)};
  FakeHolder& express = holders[0];  // the last one that connects
  TcpTransport transport{context.get_executor(), clock, options};
  std::vector<std::byte> large = std::vector<std::byte>(kLarge);
  std::vector<std::byte> small = std::vector<std::byte>(4 * kSmall);
  RecordingSink large_sink{context.get_executor()};
  RecordingSink small_sink{context.get_executor()};
};

Task<void> others_are_silent(TurnsRig& rig) {
  co_await rig.connect();
  co_await rig.begin_large();
  rig.transport.post(kOther, small_slices_over(rig.small, kSmall, 0), rig.small_sink);
  std::vector<Request> asked;
  for (int i = 0; i < 4; ++i) {
    Request request = co_await rig.express.next_request();
    asked.push_back(request);
  }
  // Whoever is in the middle of its turn ends it.
  std::uint64_t moved = co_await rig.settle();
  BOOST_TEST(moved <= kTurnOfEach);
  moved = co_await rig.settle();
  BOOST_TEST(moved == 0U);
  // Not for ever, though.
  rig.clock.advance(kMostSilence);
  moved = co_await rig.settle();
  BOOST_TEST((moved > 0 && moved <= kTurnOfEach));
  // As much as a turn of each: they have one as well.
  const std::uint64_t before = rig.large_sink.landed_bytes();
  for (int i = 0; i < 2; ++i) {
    co_await rig.express.send_header(asked[i].op, 0, kSmall);
    co_await rig.express.send(std::span(rig.large).first(kSmall));
  }
  co_await rig.small_sink.outcomes(2);
  BOOST_TEST(rig.small_sink.count(Errc::kUnset) == 2U, rig.small_sink.first_detail());
  co_await rig.settle();
  moved = rig.large_sink.landed_bytes() - before;
  BOOST_TEST((moved > 0 && moved <= kTurnOfEach));
  moved = co_await rig.settle();
  BOOST_TEST(moved == 0U);
  for (int i = 2; i < 4; ++i) {
    co_await rig.express.send_header(asked[i].op, 0, kSmall);
    co_await rig.express.send(std::span(rig.large).first(kSmall));
  }
  co_await rig.large_sink.outcomes(2);
  BOOST_TEST(rig.small_sink.count(Errc::kUnset) == 4U);
  BOOST_TEST(rig.large_sink.count(Errc::kUnset) == 2U);
  BOOST_TEST(rig.large_sink.breaches() + rig.small_sink.breaches() == 0U);
  co_await rig.transport.close();
}

/// Nor do the tails of large reads, beside each other, make way.
Task<void> tails_wait_for_nobody(TurnsRig& rig) {
  co_await rig.connect();
  co_await rig.begin_large();
  for (const ReadContext& context : {kRead, kOther}) {
    rig.transport.post(context, slices_over(rig.small, kSmall, kLarge), rig.small_sink);
  }
  co_await rig.large_sink.outcomes(2);
  BOOST_TEST(rig.large_sink.count(Errc::kUnset) == 2U);
  co_await rig.transport.close();
}

/// Even where another channel has nothing to bring: it may fall silent, or have a large one next.
Task<void> small_ones_take_the_express_channel(TurnsRig& rig) {
  co_await rig.connect();
  rig.transport.post(kRead, slices_over(std::span(rig.large).first(kLarge / 2), kLarge / 2, 0),
                     rig.large_sink);
  rig.transport.post(kOther, small_slices_over(std::span(rig.small).first(kSmall), kSmall, 0),
                     rig.small_sink);
  const Request request = co_await rig.express.next_request();
  BOOST_TEST(request.length == kSmall);
  co_await rig.transport.close();
}

Task<void> closed_while_silent(TurnsRig& rig) {
  co_await rig.connect();
  co_await rig.begin_large();
  rig.transport.post(kOther, small_slices_over(rig.small, kSmall, 0), rig.small_sink);
  co_await rig.settle();
  co_await rig.transport.close();
  BOOST_TEST(rig.large_sink.count(Errc::kFlushed) == 2U);
  BOOST_TEST(rig.small_sink.count(Errc::kFlushed) == 4U);
}

BOOST_AUTO_TEST_SUITE(channel_turns)

BOOST_AUTO_TEST_CASE(the_others_are_silent_for_small_slices_of_another_read_within_bounds) {
  TurnsRig rig;
  run_task(rig.context, others_are_silent(rig));
}

BOOST_AUTO_TEST_CASE(the_short_slices_of_large_reads_silence_nobody) {
  TurnsRig rig;
  run_task(rig.context, tails_wait_for_nobody(rig));
}

BOOST_AUTO_TEST_CASE(small_slices_beside_another_read_take_the_express_channel) {
  TurnsRig rig;
  run_task(rig.context, small_ones_take_the_express_channel(rig));
}

BOOST_AUTO_TEST_CASE(a_rail_can_be_closed_while_its_channels_are_silent) {
  TurnsRig rig;
  run_task(rig.context, closed_while_silent(rig));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
