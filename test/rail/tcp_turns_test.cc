#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/rail/tcp/data_frame.h"
#include "engine/rail/tcp/tcp_limits.h"
#include "test/rail/recording_sink.h"
#include "test/rail/run_task.h"
#include "test/rail/tcp_rig.h"
#include "test/support/canary.h"
#include "test/support/fake_holder.h"
#include "test/support/pattern.h"

// Reads that share one channel: the holder serves them in turns, so their frames come mixed.

namespace corail::test {
namespace {

constexpr std::uint64_t kLarge = 32 * kMiB;
constexpr std::uint64_t kSmall = 64 * kKiB;
constexpr ReadContext kOther{ReadId(12), EpochNumber(1)};

TcpOptions shallow() {
  TcpOptions options = TcpRig::loopback_options();
  options.send_buffer = 128 * kKiB;
  options.receive_buffer = 128 * kKiB;
  options.frame_bytes = 64 * kKiB;
  return options;
}

Task<void> read_a_little_beside_a_lot(TcpRig& rig) {
  const auto transport = rig.make_transport(1);
  const auto connected = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST(connected.ok());
  std::vector<std::byte> large(kLarge);
  std::vector<std::byte> small(kSmall);
  RecordingSink large_sink(rig.context.get_executor());
  RecordingSink small_sink(rig.context.get_executor());
  transport->post(kRead, slices_over(large, kLarge / 2, 0), large_sink);
  co_await large_sink.landed(kMiB);
  const std::uint64_t before = large_sink.landed_bytes();
  transport->post(kOther, slices_over(small, kSmall, 0), small_sink);
  co_await small_sink.outcomes(1);
  // A frame or two, and what the kernel's buffers hold of this channel.
  BOOST_TEST(large_sink.landed_bytes() - before <= 4 * kMiB);
  BOOST_TEST(small_sink.count(Errc::kUnset) == 1U);
  BOOST_TEST(!first_difference(small, MemoryGate::kSeed, 0).has_value());
  co_await large_sink.outcomes(2);
  BOOST_TEST(large_sink.count(Errc::kUnset) == 2U);
  BOOST_TEST(!first_difference(large, MemoryGate::kSeed, 0).has_value());
  BOOST_TEST(large_sink.breaches() + small_sink.breaches() == 0U);
  co_await transport->close();
  co_await rig.door.close();
  BOOST_TEST(rig.gate.pins() == 0U);
}

Task<void> fence_one_of_two_mixed_reads(TcpRig& rig) {
  const auto transport = rig.make_transport(1);
  const auto connected = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST(connected.ok());
  std::vector<std::byte> given_up(kLarge);
  std::vector<std::byte> kept(kLarge / 2);
  RecordingSink given_up_sink(rig.context.get_executor());
  RecordingSink kept_sink(rig.context.get_executor());
  transport->post(kRead, slices_over(given_up, kLarge / 2, 0), given_up_sink);
  transport->post(kOther, slices_over(kept, kLarge / 4, 0), kept_sink);
  co_await given_up_sink.landed(kMiB);
  co_await kept_sink.landed(kMiB);
  const auto fenced = co_await transport->fence(given_up_sink, rig.soon());
  BOOST_TEST(fenced.ok());
  BOOST_TEST(given_up_sink.count(Errc::kFlushed) == 2U);
  const Canary next_owner(given_up, 2);
  co_await kept_sink.outcomes(2);
  BOOST_TEST(kept_sink.count(Errc::kUnset) == 2U);
  BOOST_TEST(!first_difference(kept, MemoryGate::kSeed, 0).has_value());
  BOOST_TEST(next_owner.changed_bytes() == 0U);
  BOOST_TEST(given_up_sink.breaches() + kept_sink.breaches() == 0U);
  BOOST_TEST(transport->usable());
  co_await transport->close();
  co_await rig.door.close();
  BOOST_TEST(rig.gate.pins() == 0U);
}

/// Receives one frame; how long its payload was.
Task<std::uint64_t> next_frame(DataSocket& socket, std::vector<std::byte>& payload) {
  ReplyBytes header{};
  co_await socket.receive_all(std::span(header));
  const auto reply = decode_reply(header);
  BOOST_TEST(reply.ok());
  if (!reply.ok()) co_return 0;
  payload.resize(reply->length);
  co_await socket.receive_all(std::span(payload));
  co_return reply->length;
}

Task<void> count_frames(TcpRig& rig) {
  const auto socket = co_await dial_in(rig.context, rig.endpoint);
  std::vector<std::byte> requests;
  for (std::uint32_t i = 0; i < 2; ++i) {
    Request read;
    read.region = MemoryGate::kRegion;
    read.op.slot = i;
    read.read = ReadId(i + 1);
    read.length = i == 0 ? 8 * kMiB : kMiB;
    const RequestBytes bytes = encode(read);
    requests.insert(requests.end(), bytes.begin(), bytes.end());
  }
  co_await socket->send_all(std::span<const std::byte>(requests));
  std::vector<std::byte> payload;
  std::uint64_t received = 0;
  // Until the small one has ended, a little after twice its length.
  while (received < 2 * kMiB) {
    const std::uint64_t length = co_await next_frame(*socket, payload);
    BOOST_TEST(length <= kSharedTurnBytes);
    received += length;
  }
  std::uint64_t longest = 0;
  while (received < 9 * kMiB) {
    const std::uint64_t length = co_await next_frame(*socket, payload);
    longest = std::max(longest, length);
    received += length;
  }
  // Alone again it has long ones.
  BOOST_TEST(longest == kMaxPayloadBytes);
  co_await rig.door.close();
}

/// The channels of a port share its thread, whoever's they are.
Task<void> count_frames_beside_another_channel(TcpRig& rig) {
  const auto small = co_await dial_in(rig.context, rig.endpoint);
  const auto large = co_await dial_in(rig.context, rig.endpoint);
  std::vector<std::byte> payload;
  // More than the kernel's buffers take, so that the rest goes on waiting.
  for (std::uint32_t i = 0; i < 32; ++i) {
    Request read;
    read.region = MemoryGate::kRegion;
    read.op.slot = i;
    read.read = ReadId(1);
    read.length = kMiB;
    const RequestBytes bytes = encode(read);
    co_await small->send_all(std::span(bytes));
  }
  co_await next_frame(*small, payload);
  Request read;
  read.region = MemoryGate::kRegion;
  read.read = ReadId(2);
  read.length = 8 * kMiB;
  const RequestBytes bytes = encode(read);
  co_await large->send_all(std::span(bytes));
  for (std::uint64_t received = 0; received < read.length;) {
    const std::uint64_t length = co_await next_frame(*large, payload);
    BOOST_TEST(length <= kSharedTurnBytes);
    received += length;
  }
  co_await rig.door.close();
}

BOOST_AUTO_TEST_SUITE(tcp_turns)

BOOST_AUTO_TEST_CASE(frames_are_short_while_another_channel_serves_small_slices) {
  TcpRig rig(kLarge);
  run_task(rig.context, count_frames_beside_another_channel(rig));
}

BOOST_AUTO_TEST_CASE(frames_are_short_while_reads_share_a_channel_and_long_for_one_alone) {
  TcpRig rig(kLarge);
  run_task(rig.context, count_frames(rig));
}

BOOST_AUTO_TEST_CASE(a_small_read_comes_through_a_long_queue) {
  TcpRig rig(kLarge, shallow());
  run_task(rig.context, read_a_little_beside_a_lot(rig));
}

BOOST_AUTO_TEST_CASE(a_fence_of_one_read_leaves_the_one_whose_frames_are_mixed_with_its_own) {
  TcpRig rig(kLarge, shallow());
  run_task(rig.context, fence_one_of_two_mixed_reads(rig));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
