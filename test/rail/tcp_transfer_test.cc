#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <boost/test/unit_test.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/exec/executor.h"
#include "test/rail/recording_sink.h"
#include "test/rail/run_task.h"
#include "test/rail/tcp_rig.h"
#include "test/support/fake_holder.h"
#include "test/support/pattern.h"

namespace corail::test {
namespace {

/// Slices of random lengths in random places, packed into `target`.
std::vector<Slice> random_slices(Random& random, std::span<std::byte> target, std::size_t held) {
  std::vector<Slice> slices;
  std::uint64_t at = 0;
  while (at < target.size()) {
    // Every other slice is small: several of them share a call.
    const std::uint64_t most = random.below(2) == 0 ? 3000 : 1'500'000;
    Slice slice;
    slice.region = MemoryGate::kRegion;
    slice.length = std::min<std::uint64_t>(1 + random.below(most), target.size() - at);
    slice.remote_offset = random.below(held - slice.length + 1);
    slice.destination = target.data() + at;
    slice.tag = slices.size();
    at += slice.length;
    slices.push_back(slice);
  }
  return slices;
}

std::size_t wrong_slices(const std::vector<Slice>& slices) {
  std::size_t wrong = 0;
  for (const Slice& slice : slices) {
    const std::span<const std::byte> bytes(slice.destination, slice.length);
    if (first_difference(bytes, MemoryGate::kSeed, slice.remote_offset)) ++wrong;
  }
  return wrong;
}

Task<void> read_random_slices(TcpRig& rig, std::uint32_t channels) {
  SeededRandom random(channels);
  const auto transport = rig.make_transport(channels);
  const auto connected = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST(connected.ok());
  BOOST_TEST(transport->usable());
  std::vector<std::byte> target(20 * kMiB);
  const std::vector<Slice> slices = random_slices(random, target, rig.gate.size());
  RecordingSink sink(rig.context.get_executor());
  // In portions within the limit, posted from within outcomes: as a rail does.
  std::size_t posted = 0;
  std::size_t open = 0;
  const auto refill = [&] {
    while (posted < slices.size() && open < transport->capabilities().max_slices) {
      const std::size_t portion =
          std::min<std::size_t>({1 + random.below(7), slices.size() - posted,
                                 transport->capabilities().max_slices - open});
      open += portion;
      posted += portion;
      transport->post(kRead, std::span(slices).subspan(posted - portion, portion), sink);
    }
  };
  sink.during_outcome = [&](const Slice&, Errc) {
    --open;
    refill();
  };
  refill();
  co_await sink.outcomes(slices.size());
  BOOST_TEST(sink.count(Errc::kUnset) == slices.size());
  BOOST_TEST(sink.breaches() == 0U);
  BOOST_TEST(wrong_slices(slices) == 0U);
  co_await transport->close();
  BOOST_TEST(!transport->usable());
  co_await rig.door.close();
  BOOST_TEST(rig.gate.pins() == 0U);
}

Task<void> read_past_a_refusal(TcpRig& rig) {
  const auto transport = rig.make_transport(1);
  const auto connected = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST(connected.ok());
  std::vector<std::byte> target(256 * kKiB);
  std::vector<Slice> slices = slices_over(target, 64 * kKiB, 0);
  slices[1].remote_offset = rig.gate.size() - 1;
  slices[2].region = RegionId(8);
  RecordingSink sink(rig.context.get_executor());
  transport->post(kRead, slices, sink);
  std::vector<std::byte> lapsed_target(64 * kKiB);
  const std::vector<Slice> lapsed = slices_over(lapsed_target, 64 * kKiB, 100);
  ReadContext lapsed_read;
  lapsed_read.read = MemoryGate::kLapsedRead;
  transport->post(lapsed_read, lapsed, sink);
  co_await sink.outcomes(5);
  BOOST_TEST(sink.count(Errc::kRefused) == 2U);
  BOOST_TEST(sink.count(Errc::kLeaseExpired) == 1U);
  BOOST_TEST(sink.count(Errc::kUnset) == 2U);
  BOOST_TEST(sink.breaches() == 0U);
  BOOST_TEST(transport->usable());
  BOOST_TEST(!first_difference(std::span(target).last(64 * kKiB), MemoryGate::kSeed, 192 * kKiB));
  co_await transport->close();
  co_await rig.door.close();
}

Task<void> post_what_cannot_be(TcpRig& rig) {
  rig.options.max_slices = 3;
  const auto transport = rig.make_transport(1);
  RecordingSink early(rig.context.get_executor());
  std::vector<std::byte> target(8 * 100);
  const std::vector<Slice> slices = slices_over(target, 100, 0);
  transport->post(kRead, std::span(slices).first(2), early);
  BOOST_TEST(early.outcome_count() == 0U);
  co_await early.outcomes(2);
  BOOST_TEST(early.count(Errc::kRailFailed) == 2U);

  const auto connected = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST(connected.ok());
  RecordingSink sink(rig.context.get_executor());
  transport->post(kRead, slices, sink);
  std::vector<Slice> odd = slices_over(std::span(target).first(200), 100, 50);
  odd[0].length = 0;
  odd[1].length = transport->capabilities().max_slice_bytes + 1;
  transport->post(kRead, odd, sink);
  BOOST_TEST(sink.outcome_count() == 0U);
  co_await sink.outcomes(10);
  BOOST_TEST(sink.count(Errc::kUnset) == 3U);
  BOOST_TEST(sink.count(Errc::kBusy) == 5U);
  BOOST_TEST(sink.count(Errc::kInvalidArgument) == 2U);
  BOOST_TEST(sink.breaches() == 0U);
  const auto again = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST((!again.ok() && again.error().code() == Errc::kInvalidArgument));
  co_await transport->close();
  co_await transport->close();
  co_await rig.door.close();
}

Task<void> leave_from_another_address(TcpRig& rig) {
  FakeHolder holder(rig.context);
  rig.options.local_address = "127.0.0.2";
  const auto transport = rig.make_transport(1);
  TaskScope scope(rig.context.get_executor());
  scope.spawn(holder.accept());
  const auto connected = co_await transport->connect(holder.endpoint(), rig.soon());
  BOOST_TEST(connected.ok());
  BOOST_TEST(holder.peer_name().substr(0, 10) == "127.0.0.2:");
  co_await scope.join();
  holder.hang_up();
  co_await transport->close();
  co_await rig.door.close();
}

Task<void> read_over(TcpTransport& transport, RailEndpoint endpoint, TimePoint deadline,
                     const std::vector<Slice>& slices, RecordingSink& sink) {
  const auto connected = co_await transport.connect(endpoint, deadline);
  if (!connected.ok()) co_return;
  transport.post(kRead, slices, sink);
  co_await sink.outcomes(slices.size());
  co_await transport.close();
}

BOOST_AUTO_TEST_SUITE(tcp_transfer)

BOOST_AUTO_TEST_CASE(random_slices_over_one_to_four_channels_are_byte_exact) {
  for (std::uint32_t channels = 1; channels <= 4; ++channels) {
    TcpOptions options = TcpRig::loopback_options();
    options.max_slices = 40;
    // Frames and receives of odd sizes, so that borders of all kinds are met.
    options.frame_bytes = channels == 3 ? 77'777 : kMaxPayloadBytes;
    options.receive_bytes = channels == 2 ? 33'333 : 512 * kKiB;
    TcpRig rig(3 * kMiB, options);
    run_task(rig.context, read_random_slices(rig, channels));
  }
}

BOOST_AUTO_TEST_CASE(slices_that_the_gate_refuses_do_not_stop_the_others) {
  TcpRig rig(kMiB);
  run_task(rig.context, read_past_a_refusal(rig));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_posted_has_its_outcome_later) {
  TcpRig rig(kMiB);
  run_task(rig.context, post_what_cannot_be(rig));
}

BOOST_AUTO_TEST_CASE(channels_leave_from_the_given_local_address) {
  TcpRig rig(kMiB);
  run_task(rig.context, leave_from_another_address(rig));
}

BOOST_AUTO_TEST_CASE(both_sides_on_threads_of_their_own) {
  SteadyClock clock;
  MemoryGate gate(4 * kMiB);
  Executor holding("holder");
  Executor requesting("requester");
  TcpOptions options = TcpRig::loopback_options();
  TcpRailDoor door(holding.asio_executor(), clock, options);
  BOOST_REQUIRE(door.open().ok());
  const RailEndpoint endpoint = door.admit_session(kSession, TcpRig::token(), gate);
  TcpTransport transport(requesting.asio_executor(), clock, options);
  std::vector<std::byte> target(4 * kMiB);
  const std::vector<Slice> slices = slices_over(target, 300'000, 0);
  RecordingSink sink(requesting.asio_executor());
  holding.start();
  requesting.start();
  const TimePoint deadline = clock.now() + std::chrono::seconds(60);
  asio::co_spawn(requesting.asio_executor(), read_over(transport, endpoint, deadline, slices, sink),
                 asio::use_future)
      .get();
  asio::co_spawn(holding.asio_executor(), door.close(), asio::use_future).get();
  requesting.stop();
  holding.stop();
  BOOST_TEST(sink.count(Errc::kUnset) == slices.size());
  BOOST_TEST(sink.breaches() == 0U);
  BOOST_TEST(wrong_slices(slices) == 0U);
  BOOST_TEST(gate.pins() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
