#include <boost/test/unit_test.hpp>
#include <map>
#include <span>
#include <vector>

#include "engine/base/random.h"
#include "engine/exec/task_scope.h"
#include "test/rail/recording_sink.h"
#include "test/rail/run_task.h"
#include "test/rail/tcp_rig.h"
#include "test/support/canary.h"
#include "test/support/fake_holder.h"
#include "test/support/pattern.h"

namespace corail::test {
namespace {

/// The holder stops in the middle of a frame, the slice is fenced, its memory gets another owner,
/// and only then the rest arrives.
Task<void> fence_against_a_late_sender(TcpRig& rig) {
  constexpr std::uint64_t kLength = 200'000;
  FakeHolder holder(rig.context);
  rig.options.max_slices = 1;
  const auto transport = rig.make_transport(1);
  TaskScope scope(rig.context.get_executor());
  scope.spawn(holder.accept());
  const auto connected = co_await transport->connect(holder.endpoint(), rig.soon());
  BOOST_TEST(connected.ok());
  co_await scope.join();
  std::vector<std::byte> memory(kLength);
  std::vector<std::byte> payload(kLength);
  fill_pattern(payload, 1, 0);
  RecordingSink sink(rig.context.get_executor());
  transport->post(kRead, slices_over(memory, kLength, 0), sink);
  const Request first = co_await holder.next_request();
  co_await holder.send_header(first.op, 0, kLength / 2);
  co_await holder.send(std::span(payload).first(kLength / 4));
  co_await sink.landed(kLength / 4);

  const auto fenced = co_await transport->fence(sink, rig.soon());
  BOOST_TEST(fenced.ok());
  BOOST_TEST(sink.count(Errc::kFlushed) == 1U);
  BOOST_TEST(transport->usable());
  const Canary next_owner(memory, 2);
  const Request cancel = co_await holder.next_request();
  BOOST_TEST((cancel.kind == RequestKind::kCancel && cancel.read == kRead.read));
  BOOST_TEST((cancel.epoch == kRead.epoch));

  // The only slot is still taken, so the next slice is asked for when the holder has let go.
  std::vector<std::byte> other(1000);
  RecordingSink later(rig.context.get_executor());
  transport->post(kRead, slices_over(other, 1000, 0), later);
  co_await holder.send(std::span(payload).subspan(kLength / 4, kLength / 4));
  co_await holder.send_header(first.op, kLength / 2, kLength / 4);
  co_await holder.send(std::span(payload).subspan(kLength / 2, kLength / 4));
  co_await holder.send_end(first.op);
  const Request second = co_await holder.next_request();
  BOOST_TEST((second.kind == RequestKind::kRead && second.op != first.op));
  co_await holder.send_header(second.op, 0, 1000);
  co_await holder.send(std::span(payload).first(1000));
  co_await later.outcomes(1);
  BOOST_TEST(later.count(Errc::kUnset) == 1U);
  BOOST_TEST(!first_difference(other, 1, 0));
  BOOST_TEST(next_owner.changed_bytes() == 0U);
  BOOST_TEST(sink.landed_bytes() == kLength / 4);
  BOOST_TEST(sink.outcome_count() == 1U);
  co_await transport->close();
  co_await rig.door.close();
}

/// Two reads share the rail; one is fenced at a random moment, again and again.
Task<void> fence_one_of_two_reads(TcpRig& rig, std::uint64_t seed) {
  constexpr std::size_t kBytes = 4 * kMiB;
  SeededRandom random(seed);
  const auto transport = rig.make_transport(2);
  const auto connected = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST(connected.ok());
  std::vector<std::byte> doomed_memory(kBytes);
  std::vector<std::byte> lasting_memory(kBytes);
  RecordingSink lasting(rig.context.get_executor());
  std::size_t posted = 0;
  for (int round = 0; round < 5; ++round) {
    RecordingSink doomed(rig.context.get_executor());
    ReadContext doomed_read;
    doomed_read.read = ReadId(1000 + static_cast<std::uint64_t>(round));
    const auto doomed_slices = slices_over(doomed_memory, 150'000, 0);
    const auto lasting_slices = slices_over(lasting_memory, 220'000, posted);
    transport->post(doomed_read, doomed_slices, doomed);
    transport->post(kRead, lasting_slices, lasting);
    posted += lasting_slices.size();
    co_await doomed.landed(1 + random.below(kBytes - 1));
    const auto fenced = co_await transport->fence(doomed, rig.soon());
    BOOST_TEST(fenced.ok());
    BOOST_TEST(doomed.outcome_count() == doomed_slices.size());
    BOOST_TEST(doomed.count(Errc::kUnset) + doomed.count(Errc::kFlushed) == doomed_slices.size());
    BOOST_TEST(doomed.breaches() == 0U);
    const Canary next_owner(doomed_memory, seed + 1);
    co_await lasting.outcomes(posted);
    BOOST_TEST(next_owner.changed_bytes() == 0U);
    BOOST_TEST(!first_difference(lasting_memory, MemoryGate::kSeed, 0));
    std::fill(lasting_memory.begin(), lasting_memory.end(), std::byte{0});
  }
  BOOST_TEST(lasting.count(Errc::kUnset) == posted);
  BOOST_TEST(lasting.breaches() == 0U);
  BOOST_TEST(transport->usable());
  co_await transport->close();
  co_await rig.door.close();
}

/// A sink that is told of its flush posts the slice again at once, under the same read.
Task<void> post_again_from_within_a_fence(TcpRig& rig) {
  const auto transport = rig.make_transport(2);
  const auto connected = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST(connected.ok());
  std::vector<std::byte> memory(2 * kMiB);
  RecordingSink first(rig.context.get_executor());
  RecordingSink second(rig.context.get_executor());
  std::size_t again = 0;
  first.during_outcome = [&](const Slice& slice, Errc code) {
    if (code != Errc::kFlushed) return;
    ++again;
    transport->post(kRead, std::span(&slice, 1), second);
  };
  transport->post(kRead, slices_over(memory, 100'000, 0), first);
  co_await first.landed(1);
  const auto fenced = co_await transport->fence(first, rig.soon());
  BOOST_TEST(fenced.ok());
  BOOST_TEST(again > 0U);
  co_await second.outcomes(again);
  BOOST_TEST(second.count(Errc::kUnset) == again);
  BOOST_TEST(second.breaches() == 0U);
  BOOST_TEST(!first_difference(memory, MemoryGate::kSeed, 0));
  co_await transport->close();
  co_await rig.door.close();
}

/// What a door still sends of a READ of 32 MiB after its CANCEL, which is not meant for the last of
/// three READs: one of another read, or of another epoch of the same.
Task<void> cancel_a_long_read(TcpRig& rig, bool by_epoch) {
  constexpr std::uint64_t kLength = 32 * kMiB;
  const auto socket = co_await dial_in(rig.context, rig.endpoint);
  BOOST_TEST((socket != nullptr));
  std::vector<std::byte> requests;
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    Request read;
    read.region = MemoryGate::kRegion;
    read.op.slot = slot;
    read.length = kLength;
    const bool meant = slot < 2;
    read.read = meant || by_epoch ? kRead.read : ReadId(12);
    read.epoch = EpochNumber(meant ? 1 : 3);
    const RequestBytes bytes = encode(read);
    requests.insert(requests.end(), bytes.begin(), bytes.end());
  }
  co_await socket->send_all(std::span<const std::byte>(requests));
  std::vector<std::byte> payload(kMaxPayloadBytes);
  std::map<std::uint32_t, std::uint64_t> received;
  std::size_t cancelled = 0;
  std::uint64_t before_cancel = 0;
  while (received[2] < kLength) {
    ReplyBytes header{};
    const auto state = co_await socket->receive_all(std::span(header));
    const auto reply = decode_reply(header);
    BOOST_TEST((state == Transferred::State::kSome && reply.ok()));
    if (state != Transferred::State::kSome || !reply.ok()) break;
    if (reply->kind == ReplyKind::kCancelled) {
      ++cancelled;
      BOOST_TEST(reply->op.slot < 2U);
      continue;
    }
    BOOST_TEST((reply->kind == ReplyKind::kData));
    co_await socket->receive_all(std::span(payload).first(reply->length));
    received[reply->op.slot] += reply->length;
    if (before_cancel > 0 || received[0] < 2 * kMiB) continue;
    before_cancel = received[0];
    Request cancel;
    cancel.kind = RequestKind::kCancel;
    cancel.read = kRead.read;
    if (by_epoch) cancel.epoch = EpochNumber(1);
    const RequestBytes bytes = encode(cancel);
    co_await socket->send_all(std::span(bytes));
  }
  BOOST_TEST(cancelled == 2U);
  BOOST_TEST(received[1] == 0U);
  // What the kernel's buffers hold, the frame that is being sent and the one behind it.
  BOOST_TEST(received[0] - before_cancel <= 4 * kMiB);
  BOOST_TEST(received[2] == kLength);
  BOOST_TEST(rig.gate.pins() == 0U);
  co_await rig.door.close();
}

BOOST_AUTO_TEST_SUITE(tcp_fence)

BOOST_AUTO_TEST_CASE(late_frames_of_a_fenced_slice_go_nowhere) {
  TcpRig rig(kMiB);
  run_task(rig.context, fence_against_a_late_sender(rig));
}

BOOST_AUTO_TEST_CASE(a_fence_of_one_read_leaves_the_other_alone) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    TcpRig rig(4 * kMiB);
    run_task(rig.context, fence_one_of_two_reads(rig, seed));
    BOOST_TEST(rig.gate.pins() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_cancel_does_not_reach_what_is_posted_after_it) {
  TcpRig rig(4 * kMiB);
  run_task(rig.context, post_again_from_within_a_fence(rig));
}

BOOST_AUTO_TEST_CASE(a_cancel_stops_the_holder_after_a_bounded_number_of_bytes) {
  for (const bool by_epoch : {false, true}) {
    TcpOptions options = TcpRig::loopback_options();
    options.send_buffer = 256 * 1024;
    options.receive_buffer = 256 * 1024;
    TcpRig rig(32 * kMiB, options);
    run_task(rig.context, cancel_a_long_read(rig, by_epoch));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
