#include <boost/test/unit_test.hpp>
#include <span>
#include <utility>
#include <vector>

#include "test/rail/push_rig.h"
#include "test/support/canary.h"
#include "test/support/fake_holder.h"
#include "test/support/pattern.h"

// How pushed slices over tcp end before they are whole, and what becomes of the bytes that come
// then.

namespace corail::test {
namespace {

/// How a slice ends whose bytes have come in part.
enum class Ending { kFence, kNo, kNobodyKnows, kOtherLength };

/// The owner stops in the middle of a frame, the slice ends, its memory gets another owner, and
/// only then the rest arrives; its order is answered last, where that is not what has ended it.
Task<void> end_before_a_late_sender(TcpRig& rig, Ending how, Errc expected) {
  constexpr std::uint64_t kLength = 200'000;
  rig.options.max_slices = 1;
  PushRig push(rig);
  FakeHolder holder(rig.context);
  co_await push.connect_to(holder);
  std::vector<std::byte> memory(kLength);
  std::vector<std::byte> payload(kLength);
  fill_pattern(payload, 1, 0);
  push.transport->post(kRead, pushed_slices_over(memory, kLength), push.sink);
  const CarriedOrder first = co_await push.courier->next();
  const OpKey number = OpKey::unpack(first.order.number);
  co_await holder.send_header(number, 0, kLength / 2);
  co_await holder.send(std::span(payload).first(kLength / 4));
  co_await push.sink.landed(kLength / 4);

  if (how == Ending::kFence) {
    const auto fenced = co_await push.transport->fence(push.sink, rig.soon());
    BOOST_TEST(fenced.ok());
    const Request cancel = co_await holder.next_request();
    BOOST_TEST((cancel.kind == RequestKind::kCancel && cancel.read == kRead.read));
    BOOST_TEST((cancel.epoch == kRead.epoch));
  } else if (how == Ending::kNo) {
    first.answered(Error(Errc::kLeaseExpired, "no"));
  } else if (how == Ending::kNobodyKnows) {
    first.answered(Error(Errc::kConnectionLost, "the control connection was lost"));
  } else {
    PushReceipt receipt = receipt_of(first.order);
    receipt.bytes -= 1;
    first.answered(receipt);
  }
  BOOST_TEST(push.sink.count(expected) == 1U);
  BOOST_TEST(push.transport->usable());
  const Canary next_owner(memory, 2);

  std::vector<std::byte> other(1000);
  RecordingSink later(rig.context.get_executor());
  push.transport->post(kRead, pushed_slices_over(other, 1000), later);
  co_await holder.send(std::span(payload).subspan(kLength / 4, kLength / 4));
  co_await holder.send_header(number, kLength / 2, kLength / 2);
  co_await holder.send(std::span(payload).subspan(kLength / 2));
  if (how == Ending::kFence) {
    // The only slot is still taken: an owner has no more orders to look after than were posted.
    BOOST_TEST(push.courier->waiting() == 0U);
    first.answered(receipt_of(first.order));
  }
  const CarriedOrder second = co_await push.courier->next();
  BOOST_TEST(second.order.number > first.order.number);
  co_await holder.send_header(OpKey::unpack(second.order.number), 0, 1000);
  co_await holder.send(std::span(payload).first(1000));
  second.answered(receipt_of(second.order));
  co_await later.outcomes(1);
  BOOST_TEST(later.count(Errc::kUnset) == 1U);
  BOOST_TEST(!first_difference(other, 1, 0));
  BOOST_TEST(next_owner.changed_bytes() == 0U);
  BOOST_TEST(push.sink.landed_bytes() == kLength / 4);
  BOOST_TEST(push.sink.outcome_count() == 1U);
  // Nobody hears a second answer.
  first.answered(receipt_of(first.order));
  BOOST_TEST(push.sink.outcome_count() == 1U);
  co_await push.close();
}

/// What an owner may not send on the data channel, by what it does with an order.
enum class Breach { kCancelled, kRefused, kNeverOrdered, kTooMuch, kGap };

Task<void> break_the_protocol(TcpRig& rig, Breach what) {
  PushRig push(rig);
  FakeHolder holder(rig.context);
  co_await push.connect_to(holder);
  std::vector<std::byte> target(1000);
  push.transport->post(kRead, pushed_slices_over(target, 1000), push.sink);
  const CarriedOrder first = co_await push.courier->next();
  Reply reply;
  reply.op = OpKey::unpack(first.order.number);
  reply.length = 1000;
  if (what == Breach::kCancelled) reply.kind = ReplyKind::kCancelled;
  if (what == Breach::kRefused) {
    reply.kind = ReplyKind::kRefused;
    reply.refusal = Refusal::kRefused;
  }
  if (what == Breach::kNeverOrdered) reply.op = OpKey::unpack(first.order.number + (1ULL << 16));
  if (what == Breach::kTooMuch) reply.length = 1001;
  if (what == Breach::kGap) reply.offset = 1;
  const ReplyBytes bytes = encode(reply);
  co_await holder.send(std::span(bytes));
  co_await push.sink.outcomes(1);
  BOOST_TEST(push.sink.count(Errc::kProtocol) == 1U);
  BOOST_TEST(!push.transport->usable());
  // It comes to a channel that has ended, or that is gone.
  first.answered(receipt_of(first.order));
  co_await push.close();
  push.transport.reset();
  first.answered(receipt_of(first.order));
  BOOST_TEST(push.sink.outcome_count() == 1U);
}

/// Two parts of one read share a channel. One is fenced; the owner, which looks at no epochs,
/// cancels the other as well, or it cancels what nobody asked it to.
Task<void> cancel_other_parts(TcpRig& rig, bool asked) {
  PushRig push(rig);
  FakeHolder holder(rig.context);
  co_await push.connect_to(holder);
  std::vector<std::byte> target(2000);
  const auto slices = pushed_slices_over(target, 1000);
  RecordingSink fenced_sink(rig.context.get_executor());
  push.transport->post(kRead, std::span(slices).first(1), push.sink);
  push.transport->post(kRead, std::span(slices).last(1), fenced_sink);
  const CarriedOrder first = co_await push.courier->next();
  const CarriedOrder second = co_await push.courier->next();
  if (asked) {
    const auto fenced = co_await push.transport->fence(fenced_sink, rig.soon());
    BOOST_TEST(fenced.ok());
  }
  first.answered(Error(Errc::kCancelled, "cancelled"));
  BOOST_TEST(push.sink.count(asked ? Errc::kFlushed : Errc::kCancelled) == 1U);
  second.answered(Error(Errc::kCancelled, "cancelled"));
  BOOST_TEST(fenced_sink.count(asked ? Errc::kFlushed : Errc::kCancelled) == 1U);
  co_await push.close();
}

BOOST_AUTO_TEST_SUITE(tcp_push_end)

BOOST_AUTO_TEST_CASE(late_bytes_of_a_slice_that_has_ended_go_nowhere) {
  const std::vector<std::pair<Ending, Errc>> endings = {{Ending::kFence, Errc::kFlushed},
                                                        {Ending::kNo, Errc::kLeaseExpired},
                                                        {Ending::kNobodyKnows, Errc::kRailFailed},
                                                        {Ending::kOtherLength, Errc::kProtocol}};
  for (const auto& [how, expected] : endings) {
    TcpRig rig(kMiB);
    run_task(rig.context, end_before_a_late_sender(rig, how, expected));
  }
}

BOOST_AUTO_TEST_CASE(an_owner_that_breaks_the_protocol_loses_the_channel) {
  for (const Breach what : {Breach::kCancelled, Breach::kRefused, Breach::kNeverOrdered,
                            Breach::kTooMuch, Breach::kGap}) {
    TcpRig rig(kMiB);
    run_task(rig.context, break_the_protocol(rig, what));
  }
}

BOOST_AUTO_TEST_CASE(a_cancel_that_the_fence_of_another_part_asked_for_is_a_flush) {
  for (const bool asked : {false, true}) {
    TcpRig rig(kMiB);
    run_task(rig.context, cancel_other_parts(rig, asked));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
