#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/exec/task_scope.h"
#include "test/rail/run_task.h"
#include "test/rail/tcp_rig.h"
#include "test/support/fake_holder.h"
#include "test/support/pattern.h"

// The owner's side of pushes over tcp: which orders a door takes, when it says that one has ended,
// and what it holds meanwhile.

namespace corail::test {
namespace {

PushOrder order_of(std::uint64_t number, std::uint64_t length) {
  PushOrder order;
  order.context = kRead;
  order.number = number;
  order.length = length;
  return order;
}

/// A requester that does what the test says, on the channel named 0, and pushes to it.
struct DoorRig {
  explicit DoorRig(TcpRig& own_rig)
      : rig(own_rig),
        scope(own_rig.context.get_executor()),
        ended(own_rig.context.get_executor()) {}

  Task<void> dial() { socket = co_await dial_in(rig.context, rig.endpoint); }

  Task<Result<void>> push(PushOrder order) {
    auto bytes = rig.gate.admit(kSession, order.context, MemoryGate::kRegion, order.source_offset,
                                std::min<std::uint64_t>(order.length, rig.gate.size()));
    PinnedBytes pinned = std::move(bytes).value();
    std::function<bool()> asked = [this] { return cancelled; };
    auto pushed = co_await rig.door.push(session, order, std::move(pinned), std::move(asked));
    co_return pushed;
  }
  /// Beside the caller; the result is in `outcomes` then.
  Task<void> push_beside(PushOrder order) {
    auto pushed = co_await push(order);
    outcomes.push_back(pushed.ok() ? Errc::kUnset : pushed.error().code());
    ended.notify();
  }
  Task<void> await_outcomes(std::size_t count) {
    while (outcomes.size() < count) co_await ended.wait();
  }
  Task<Errc> code_of(PushOrder order) {
    const auto pushed = co_await push(order);
    co_return pushed.ok() ? Errc::kUnset : pushed.error().code();
  }
  /// Payload of the order that comes until all of it has, or the door closes.
  Task<std::uint64_t> receive(std::uint64_t number, std::uint64_t length) {
    std::vector<std::byte> payload(kMaxPayloadBytes);
    std::uint64_t received = 0;
    while (received < length) {
      ReplyBytes header{};
      const auto state = co_await socket->receive_all(std::span(header));
      if (state != Transferred::State::kSome) break;
      const auto reply = decode_reply(header);
      BOOST_TEST_REQUIRE(reply.ok());
      BOOST_TEST((reply->kind == ReplyKind::kData));
      BOOST_TEST(reply->op.packed() == number);
      BOOST_TEST(reply->offset == received);
      const auto part = std::span(payload).first(reply->length);
      const auto rest = co_await socket->receive_all(part);
      if (rest != Transferred::State::kSome) break;
      BOOST_TEST(!first_difference(part, MemoryGate::kSeed, received));
      received += reply->length;
    }
    co_return received;
  }

  TcpRig& rig;
  SessionId session = kSession;
  TaskScope scope;
  Event ended;
  std::unique_ptr<DataSocket> socket;
  std::vector<Errc> outcomes;
  bool cancelled = false;
};

Task<void> take_each_number_once(TcpRig& rig) {
  DoorRig door(rig);
  co_await door.dial();
  for (const std::uint64_t number : {7U, 9U, 8U}) {
    const Errc taken = co_await door.code_of(order_of(number, 1000));
    BOOST_TEST((taken == Errc::kUnset));
    BOOST_TEST(rig.gate.pins() == 0U);
    const std::uint64_t received = co_await door.receive(number, 1000);
    BOOST_TEST(received == 1000U);
  }
  for (const std::uint64_t number : {7U, 8U, 9U, 0U}) {
    const Errc repeated = co_await door.code_of(order_of(number, 1000));
    BOOST_TEST((repeated == Errc::kRefused));
  }
  // What was refused has left nothing on the channel.
  const Errc next = co_await door.code_of(order_of(10, 1000));
  BOOST_TEST((next == Errc::kUnset));
  const std::uint64_t received = co_await door.receive(10, 1000);
  BOOST_TEST(received == 1000U);
  BOOST_TEST(rig.gate.pins() == 0U);
  co_await rig.door.close();
}

Task<void> refuse_what_cannot_be(TcpRig& rig) {
  DoorRig door(rig);
  co_await door.dial();
  PushOrder elsewhere = order_of(1, 1000);
  elsewhere.channel = 5;
  const Errc unknown_channel = co_await door.code_of(elsewhere);
  BOOST_TEST((unknown_channel == Errc::kRefused));
  // Of other lengths than there are bytes.
  for (const std::uint64_t length : {std::uint64_t{0}, kMaxReadBytes + 1, ~std::uint64_t{0}}) {
    const Errc wrong = co_await door.code_of(order_of(2, length));
    BOOST_TEST((wrong == Errc::kRefused));
  }
  door.session = SessionId(99);
  const Errc unknown_session = co_await door.code_of(order_of(3, 1000));
  BOOST_TEST((unknown_session == Errc::kRefused));
  door.session = kSession;
  door.cancelled = true;
  const Errc cancelled = co_await door.code_of(order_of(4, 1000));
  BOOST_TEST((cancelled == Errc::kCancelled));
  door.cancelled = false;
  const Errc last = co_await door.code_of(order_of(5, 1000));
  BOOST_TEST((last == Errc::kUnset));
  // Nothing of those that were refused comes before it.
  const std::uint64_t received = co_await door.receive(5, 1000);
  BOOST_TEST(received == 1000U);
  BOOST_TEST(rig.gate.pins() == 0U);
  co_await rig.door.close();
}

/// What fits into a batch has not been sent yet: it ends, and lets go, with its last byte.
Task<void> end_with_the_last_byte(TcpRig& rig) {
  DoorRig door(rig);
  co_await door.dial();
  door.scope.spawn(door.push_beside(order_of(1, rig.gate.size())));
  co_await door.socket->readable();
  for (int i = 0; i < 200; ++i) co_await door.socket->yield();
  BOOST_TEST(door.outcomes.empty());
  BOOST_TEST(rig.gate.pins() > 0U);
  const std::uint64_t received = co_await door.receive(1, rig.gate.size());
  BOOST_TEST(received == rig.gate.size());
  co_await door.await_outcomes(1);
  BOOST_TEST((door.outcomes[0] == Errc::kUnset));
  BOOST_TEST(rig.gate.pins() == 0U);
  co_await door.scope.join();
  co_await rig.door.close();
}

/// Orders that wait for a requester which does not receive.
Task<void> stall(DoorRig& door) {
  co_await door.dial();
  for (const std::uint64_t number : {1U, 2U, 3U}) {
    door.scope.spawn(door.push_beside(order_of(number, door.rig.gate.size())));
  }
  co_await door.socket->readable();
  BOOST_TEST(door.rig.gate.pins() >= 3U);
  BOOST_TEST(door.outcomes.empty());
}

/// How orders end that nobody receives.
enum class Ended { kSessionDropped, kDoorClosed, kHungUp };

Task<void> end_stalled_orders(TcpRig& rig, Ended how) {
  DoorRig door(rig);
  co_await stall(door);
  if (how == Ended::kSessionDropped) {
    co_await rig.door.drop_session(kSession);
  } else if (how == Ended::kDoorClosed) {
    co_await rig.door.close();
  } else {
    door.socket->close();
    co_await door.await_outcomes(3);
    // The channel is known to be lost, not unknown.
    const Errc late = co_await door.code_of(order_of(4, 1000));
    BOOST_TEST((late == Errc::kConnectionLost));
  }
  BOOST_TEST(door.outcomes.size() == 3U);
  for (const Errc outcome : door.outcomes) BOOST_TEST((outcome == Errc::kConnectionLost));
  BOOST_TEST(rig.gate.pins() == 0U);
  co_await door.scope.join();
  co_await rig.door.close();
}

/// Given up in its middle, an order ends after a bounded number of bytes, and what is behind it is
/// served: by a CANCEL on the channel, or by the owner itself.
Task<void> give_up_a_long_order(TcpRig& rig, bool by_frame) {
  DoorRig door(rig);
  co_await door.dial();
  door.scope.spawn(door.push_beside(order_of(1, rig.gate.size())));
  const std::uint64_t before = co_await door.receive(1, kMiB);
  BOOST_TEST(before >= kMiB);
  if (by_frame) {
    Request cancel;
    cancel.kind = RequestKind::kCancel;
    cancel.read = kRead.read;
    cancel.epoch = kRead.epoch;
    const RequestBytes bytes = encode(cancel);
    co_await door.socket->send_all(std::span(bytes));
  } else {
    door.cancelled = true;
  }
  std::vector<std::byte> payload(kMaxPayloadBytes);
  PushOrder next = order_of(2, 1000);
  next.context.epoch = EpochNumber(9);
  bool asked = false;
  std::uint64_t after = 0;
  while (true) {
    ReplyBytes header{};
    co_await door.socket->receive_all(std::span(header));
    const auto reply = decode_reply(header);
    BOOST_TEST_REQUIRE((reply.ok() && reply->kind == ReplyKind::kData));
    co_await door.socket->receive_all(std::span(payload).first(reply->length));
    if (reply->op.packed() == 2) break;
    after += reply->length;
    if (std::exchange(asked, true)) continue;
    // Behind everything, once the first is known to end.
    while (door.outcomes.empty()) co_await door.socket->yield();
    door.cancelled = false;
    door.scope.spawn(door.push_beside(next));
  }
  BOOST_TEST(after <= 4 * kMiB);
  co_await door.await_outcomes(2);
  BOOST_TEST((door.outcomes[0] == Errc::kCancelled));
  BOOST_TEST((door.outcomes[1] == Errc::kUnset));
  BOOST_TEST(rig.gate.pins() == 0U);
  co_await door.scope.join();
  co_await rig.door.close();
}

TcpOptions small_buffers() {
  TcpOptions options = TcpRig::loopback_options();
  options.send_buffer = 256 * kKiB;
  options.receive_buffer = 256 * kKiB;
  return options;
}

BOOST_AUTO_TEST_SUITE(tcp_push_door)

BOOST_AUTO_TEST_CASE(a_number_is_taken_once) {
  TcpRig rig(kMiB);
  run_task(rig.context, take_each_number_once(rig));
}

BOOST_AUTO_TEST_CASE(orders_that_cannot_be_are_refused) {
  TcpRig rig(kMiB);
  run_task(rig.context, refuse_what_cannot_be(rig));
}

BOOST_AUTO_TEST_CASE(an_order_ends_when_its_last_byte_was_given_to_the_socket) {
  TcpOptions options = TcpRig::loopback_options();
  options.send_buffer = 64 * kKiB;
  options.receive_buffer = 64 * kKiB;
  TcpRig rig(kMaxPayloadBytes, options);
  run_task(rig.context, end_with_the_last_byte(rig));
}

BOOST_AUTO_TEST_CASE(orders_end_with_their_channel_and_hold_nothing_then) {
  for (const Ended how : {Ended::kSessionDropped, Ended::kDoorClosed, Ended::kHungUp}) {
    TcpRig rig(32 * kMiB, small_buffers());
    run_task(rig.context, end_stalled_orders(rig, how));
  }
}

BOOST_AUTO_TEST_CASE(a_cancel_stops_an_order_after_a_bounded_number_of_bytes) {
  for (const bool by_frame : {false, true}) {
    TcpRig rig(32 * kMiB, small_buffers());
    run_task(rig.context, give_up_a_long_order(rig, by_frame));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
