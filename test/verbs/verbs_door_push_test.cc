// Orders as a verbs door serves them.
#include <arpa/inet.h>

#include <asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <exception>
#include <limits>
#include <memory>
#include <span>

#include "engine/rail/verbs/order_numbers.h"
#include "test/verbs/push_rig.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kHeldPiece = 8192;

Task<void> lose_session(VerbsRailDoor* door) { co_await door->drop_session(kSession); }

/// A rail with one queue pair, and an order of `bytes` bytes for it. What is held is known to the
/// device in pieces, so that an order has several parts.
struct Ordered {
  explicit Ordered(std::uint64_t bytes) {
    VerbsOptions options;
    options.channels = 1;
    options.max_region_bytes = kHeldPiece;
    rig = std::make_unique<PushRig>(std::move(options));
    rig->rig->served.reset();
    pieces = *rig->rig->port->memory()->add(rig->rig->held, MemoryUse::kLanding);
    rail = rig->granted(sink());
    auto slices = rig->slices(0, bytes, 3 * kHeldPiece);
    rail->post(kRead, slices, sink());
    order = rig->courier->orders.at(0);
  }
  ~Ordered() {
    close_rail(*rig->rig, std::move(rail));
    pieces.reset();
  }
  OutcomeSink& sink() {
    if (!sink_) sink_ = std::make_unique<OutcomeSink>(rig->rig->context.get_executor());
    return *sink_;
  }
  ScriptedVerbs::FakePair& serving() { return *rig->rig->serving().at(0); }

  std::unique_ptr<PushRig> rig;
  std::unique_ptr<const MemoryRegistration> pieces;
  std::unique_ptr<VerbsTransport> rail;
  PushOrder order;

 private:
  std::unique_ptr<OutcomeSink> sink_;
};

BOOST_AUTO_TEST_SUITE(verbs_door_pushes)

BOOST_AUTO_TEST_CASE(numbers_are_taken_once_in_about_their_order) {
  OrderNumbers numbers;
  BOOST_TEST(!numbers.take(0));
  BOOST_TEST(numbers.take(5));
  BOOST_TEST(!numbers.take(5));
  BOOST_TEST(numbers.take(3));
  BOOST_TEST(!numbers.take(3));
  BOOST_TEST(!numbers.take(0));
  BOOST_TEST(numbers.take(5 + OrderNumbers::kWindow - 1));
  BOOST_TEST(!numbers.take(5));
  BOOST_TEST(numbers.take(6));
  BOOST_TEST(numbers.take(1000));
  BOOST_TEST(!numbers.take(1000));
  BOOST_TEST(!numbers.take(7));
  BOOST_TEST(!numbers.take(1000 - OrderNumbers::kWindow));
  BOOST_TEST(numbers.take(1001 - OrderNumbers::kWindow));
  BOOST_TEST(numbers.take(std::numeric_limits<std::uint64_t>::max()));
}

BOOST_AUTO_TEST_CASE(only_the_last_part_tells) {
  Ordered ordered(3 * kHeldPiece);
  const auto push = ordered.rig->push(ordered.order);
  ordered.rig->settle();
  const auto& posted = ordered.serving().posted;
  BOOST_TEST_REQUIRE(posted.size() == 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& work = posted[i].work;
    BOOST_TEST((work.opcode == (i == 2 ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE)));
    BOOST_TEST(work.wr.rdma.remote_addr == ordered.order.address + i * kHeldPiece);
    BOOST_TEST(work.wr.rdma.rkey == ordered.order.write_key);
  }
  BOOST_TEST(ntohl(posted[2].work.imm_data) == static_cast<std::uint32_t>(ordered.order.number));
  BOOST_TEST(!push->ended);
  // Posted bytes are pinned until the device is done with them.
  BOOST_TEST(ordered.rig->rig->machine.run_one(ordered.serving()));
  BOOST_TEST(ordered.rig->rig->machine.run_one(ordered.serving()));
  ordered.rig->settle();
  BOOST_TEST(!push->ended);
  BOOST_TEST(!push->pinned.expired());
  ordered.rig->rig->machine.run_all();
  ordered.rig->settle();
  BOOST_TEST(push->ended);
  BOOST_TEST(push->outcome.ok());
  BOOST_TEST(push->pinned.expired());
  BOOST_TEST(ordered.rig->rig->landed(0, 3 * kHeldPiece));
}

BOOST_AUTO_TEST_CASE(what_is_no_order_of_the_session_is_refused) {
  Ordered ordered(kHeldPiece);
  PushRig& rig = *ordered.rig;
  const auto refused = [&rig, &ordered](auto change) {
    PushOrder order = ordered.order;
    change(order);
    return rig.push_now(order) == Errc::kRefused;
  };
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  BOOST_TEST(refused([](PushOrder& order) { ++order.channel; }));
  BOOST_TEST(refused([](PushOrder& order) { order.number = 0; }));
  BOOST_TEST(refused([](PushOrder& order) { order.write_key |= std::uint64_t{1} << 32; }));
  BOOST_TEST(refused([](PushOrder& order) { order.address = order.key_base - 1; }));
  BOOST_TEST(refused([](PushOrder& order) { order.key_length = order.length - 1; }));
  BOOST_TEST(refused([](PushOrder& order) {
    order.address = order.key_base + order.key_length - order.length + 1;
  }));
  BOOST_TEST(refused([](PushOrder& order) { order.key_base = order.address + 1; }));
  BOOST_TEST(refused([](PushOrder& order) { order.key_length = kMost; }));
  BOOST_TEST(refused([](PushOrder& order) {
    order.address = kMost - 1;
    order.key_length = kMost - order.key_base;
  }));
  // Somebody else's queue pair is no channel of this session.
  rig.rig->admit(SessionId(4));
  BOOST_TEST((rig.push_now(ordered.order, SessionId(4)) == Errc::kRefused));
  BOOST_TEST((rig.push_now(ordered.order, SessionId(5)) == Errc::kRefused));
  BOOST_TEST(ordered.serving().posted.empty());
  BOOST_TEST(!rig.rig->landed(0, kHeldPiece));
  // Nothing of that has used its number up; having been served has.
  BOOST_TEST((rig.push_now(ordered.order) == Errc::kUnset));
  BOOST_TEST((rig.push_now(ordered.order) == Errc::kRefused));
}

BOOST_AUTO_TEST_CASE(bytes_that_the_device_does_not_know_are_not_sent) {
  Ordered ordered(kHeldPiece);
  ordered.pieces.reset();
  BOOST_TEST((ordered.rig->push_now(ordered.order) == Errc::kInvalidArgument));
  BOOST_TEST(ordered.serving().posted.empty());
}

BOOST_AUTO_TEST_CASE(served_memory_is_sent_from_too) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(kKi, 3 * kKi, 2 * kKi), sink);
  BOOST_TEST((rig.push_now(rig.courier->orders.at(0)) == Errc::kUnset));
  BOOST_TEST(rig.rig->landed(kKi, 3 * kKi));
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(an_order_that_is_given_up_costs_what_is_on_its_way) {
  Ordered ordered(3 * kHeldPiece);
  int asked = 0;
  const auto push = ordered.rig->push(ordered.order, [&asked] { return ++asked > 2; });
  ordered.rig->settle();
  BOOST_TEST(ordered.serving().posted.size() == 2U);
  BOOST_TEST(!push->ended);
  ordered.rig->rig->machine.run_all();
  ordered.rig->settle();
  BOOST_TEST_REQUIRE(push->ended);
  BOOST_TEST((push->outcome.error().code() == Errc::kCancelled));
  // Nobody is told of it.
  BOOST_TEST(ordered.rig->rig->asking().at(0)->receives.size() ==
             ordered.rig->rig->port->sizes().receives);
}

BOOST_AUTO_TEST_CASE(a_session_that_ends_ends_its_orders_and_their_pins) {
  Ordered ordered(3 * kHeldPiece);
  ordered.rig->rig->machine.hold_flushes = true;
  const auto push = ordered.rig->push(ordered.order);
  ordered.rig->settle();
  BOOST_TEST(!push->ended);
  ordered.rig->rig->run(lose_session(ordered.rig->rig->door.get()));
  BOOST_TEST(push->pinned.expired());
  ordered.rig->settle();
  BOOST_TEST_REQUIRE(push->ended);
  BOOST_TEST((push->outcome.error().code() == Errc::kConnectionLost));
  BOOST_TEST(!ordered.rig->rig->landed(0, kHeldPiece));
  ordered.rig->rig->machine.hold_flushes = false;
}

BOOST_AUTO_TEST_CASE(bytes_stay_pinned_while_the_device_refuses_to_let_go) {
  Ordered ordered(3 * kHeldPiece);
  ordered.rig->rig->machine.hold_flushes = true;
  ordered.rig->rig->machine.errors = {{"destroy_qp", EBUSY}};
  const auto push = ordered.rig->push(ordered.order);
  ordered.rig->settle();
  bool dropped = false;
  asio::co_spawn(ordered.rig->rig->context, lose_session(ordered.rig->rig->door.get()),
                 [&dropped](const std::exception_ptr&) { dropped = true; });
  ordered.rig->rig->run_until(
      [&ordered] { return ordered.rig->rig->machine.calls["destroy_qp"] >= 3; });
  BOOST_TEST(!dropped);
  BOOST_TEST(!push->ended);
  BOOST_TEST(!push->pinned.expired());
  ordered.rig->rig->machine.errors.clear();
  ordered.rig->rig->run_until([&dropped] { return dropped; });
  BOOST_TEST(push->pinned.expired());
  ordered.rig->settle();
  ordered.rig->rig->machine.hold_flushes = false;
}

BOOST_AUTO_TEST_CASE(a_write_that_fails_ends_what_the_queue_pair_has) {
  Ordered ordered(3 * kHeldPiece);
  const auto first = ordered.rig->push(ordered.order);
  PushOrder next = ordered.order;
  ++next.number;
  const auto second = ordered.rig->push(next);
  ordered.rig->settle();
  BOOST_TEST(ordered.serving().posted.size() == 6U);
  ordered.rig->rig->machine.fail_one(ordered.serving(), IBV_WC_RETRY_EXC_ERR);
  ordered.rig->settle();
  BOOST_TEST_REQUIRE(first->ended);
  BOOST_TEST_REQUIRE(second->ended);
  BOOST_TEST((first->outcome.error().code() == Errc::kConnectionLost));
  BOOST_TEST((second->outcome.error().code() == Errc::kConnectionLost));
  BOOST_TEST(first->pinned.expired());
  // Nor is anything begun on it.
  next.number += 1;
  BOOST_TEST((ordered.rig->push_now(next) == Errc::kConnectionLost));
}

/// The requester takes every other answer for a word that nothing more comes.
BOOST_AUTO_TEST_CASE(an_order_with_a_failed_part_is_answered_as_such_whatever_ended_it) {
  Ordered ordered(3 * kHeldPiece);
  ordered.pieces.reset();
  const std::span<std::byte> known = std::span(ordered.rig->rig->held).first(kHeldPiece);
  ordered.pieces = *ordered.rig->rig->port->memory()->add(known, MemoryUse::kLanding);
  const auto push = ordered.rig->push(ordered.order);
  ordered.rig->settle();
  BOOST_TEST(ordered.serving().posted.size() == 1U);
  BOOST_TEST(!push->ended);
  ordered.rig->rig->machine.fail_one(ordered.serving(), IBV_WC_RETRY_EXC_ERR);
  ordered.rig->settle();
  BOOST_TEST_REQUIRE(push->ended);
  BOOST_TEST((push->outcome.error().code() == Errc::kConnectionLost));
}

BOOST_AUTO_TEST_CASE(what_the_device_does_not_take_is_not_waited_for) {
  Ordered ordered(3 * kHeldPiece);
  ordered.rig->rig->machine.errors = {{"post_send", EIO}};
  BOOST_TEST((ordered.rig->push_now(ordered.order) == Errc::kRailFailed));
  ordered.rig->rig->machine.errors.clear();
}

BOOST_AUTO_TEST_CASE(more_orders_than_the_send_queue_holds_wait_their_turn) {
  VerbsOptions options;
  options.channels = 1;
  PushRig rig(std::move(options));
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, 64, 64), sink);
  const std::size_t at_a_time = rig.rig->port->sizes().requests / kPartsUnderWay;
  std::vector<std::shared_ptr<PushRig::Push>> all;
  PushOrder order = rig.courier->orders.at(0);
  for (std::size_t i = 0; i < at_a_time + 5; ++i) {
    all.push_back(rig.push(order));
    ++order.number;
  }
  rig.settle();
  BOOST_TEST(rig.rig->serving().at(0)->posted.size() == at_a_time);
  // The requester has room for all of them only as long as it has ordered them.
  while (!rig.rig->serving().at(0)->posted.empty()) {
    rig.rig->serving().at(0)->posted.front().work.opcode = IBV_WR_RDMA_WRITE;
    rig.rig->machine.run_one(*rig.rig->serving().at(0));
    rig.settle();
  }
  for (const auto& push : all) BOOST_TEST((push->ended && push->outcome.ok()));
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
