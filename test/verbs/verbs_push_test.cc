// Slices of a verbs rail that the owner writes: orders, and what ends them.
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "test/verbs/push_rig.h"

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(verbs_pushes)

BOOST_AUTO_TEST_CASE(what_is_ordered_lands_and_ends) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  BOOST_TEST(rail->capabilities().pushes);
  rail->post(kRead, rig.slices(0, 16 * kKi, kKi), sink);
  BOOST_TEST_REQUIRE(rig.courier->orders.size() == 16);
  std::set<std::uint64_t> channels;
  for (std::size_t i = 0; i < 16; ++i) {
    const PushOrder& order = rig.courier->orders[i];
    channels.insert(order.channel);
    BOOST_TEST((order.context == kRead));
    BOOST_TEST(order.key_base == reinterpret_cast<std::uint64_t>(rig.rig->memory.data()));
    BOOST_TEST(order.key_length == VerbsRig::kBytes);
    BOOST_TEST(order.address == order.key_base + order.source_offset);
    BOOST_TEST((rig.push_now(order) == Errc::kUnset));
    rig.courier->confirm(i);
  }
  rig.rig->run(sink.outcomes(16));
  BOOST_TEST(channels.size() == 2);
  BOOST_TEST(sink.count(Errc::kUnset) == 16, sink.first_detail());
  BOOST_TEST(sink.breaches() == 0);
  BOOST_TEST(rig.rig->landed(0, 16 * kKi));
  rig.revoke(*rail, sink);
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(numbers_grow_on_each_channel) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, 32 * kKi, kKi), sink);
  std::map<std::uint64_t, std::uint64_t> last;
  for (const PushOrder& order : rig.courier->orders) {
    BOOST_TEST(order.number > last[order.channel]);
    last[order.channel] = order.number;
  }
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_slice_ends_when_it_has_landed_and_the_owner_has_answered) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, 2 * kKi, kKi), sink);
  BOOST_TEST_REQUIRE(rig.courier->orders.size() == 2);
  rig.courier->confirm(0);
  BOOST_TEST((rig.push_now(rig.courier->orders[1]) == Errc::kUnset));
  rig.settle();
  BOOST_TEST(sink.total() == 0);
  BOOST_TEST((rig.push_now(rig.courier->orders[0]) == Errc::kUnset));
  rig.courier->confirm(1);
  BOOST_TEST(sink.total() <= 1);
  rig.rig->run(sink.outcomes(2));
  BOOST_TEST(sink.count(Errc::kUnset) == 2);
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_no_ends_the_slice_alone) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, 2 * kKi, kKi), sink);
  rig.courier->answer(0, Error(Errc::kLeaseExpired, Stage::kServe, "the lease is over"));
  BOOST_TEST(sink.total() == 0);
  rig.rig->run(sink.outcomes(1));
  BOOST_TEST(sink.count(Errc::kLeaseExpired) == 1);
  BOOST_TEST(rail->usable());
  BOOST_TEST((rig.push_now(rig.courier->orders[1]) == Errc::kUnset));
  rig.courier->confirm(1);
  rig.rig->run(sink.outcomes(2));
  BOOST_TEST(sink.count(Errc::kUnset) == 1);
  close_rail(*rig.rig, std::move(rail));
}

/// What it tells of may have been written anywhere that was granted.
BOOST_AUTO_TEST_CASE(a_number_that_was_not_ordered_is_no_owners) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  Errc lost = Errc::kUnset;
  rail->when_lost([&lost](const Error& why) { lost = why.code(); });
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  const std::uint64_t number = rig.courier->orders[0].number;
  auto* const target =
      rig.rig->asking()[0]->attributes.dest_qp_num == rig.courier->orders[0].channel
          ? rig.rig->asking()[0]
          : rig.rig->asking()[1];
  rig.rig->machine.say(*target, static_cast<std::uint32_t>(number + 1));
  rig.rig->run(sink.outcomes(1));
  BOOST_TEST((lost == Errc::kProtocol));
  BOOST_TEST(sink.count(Errc::kProtocol) == 1);
  BOOST_TEST(!rail->usable());
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_number_that_is_told_twice_is_no_owners) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  const PushOrder& order = rig.courier->orders[0];
  auto* const target = rig.rig->asking()[0]->attributes.dest_qp_num == order.channel
                           ? rig.rig->asking()[0]
                           : rig.rig->asking()[1];
  rig.rig->machine.say(*target, static_cast<std::uint32_t>(order.number));
  rig.rig->machine.say(*target, static_cast<std::uint32_t>(order.number));
  rig.rig->run(sink.outcomes(1));
  BOOST_TEST(sink.count(Errc::kProtocol) == 1);
  BOOST_TEST(!rail->usable());
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_receipt_for_other_bytes_is_no_owners) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  BOOST_TEST((rig.push_now(rig.courier->orders[0]) == Errc::kUnset));
  PushReceipt receipt;
  receipt.bytes = kKi - 1;
  rig.courier->answer(0, receipt);
  rig.rig->run(sink.outcomes(1));
  BOOST_TEST(sink.count(Errc::kProtocol) == 1);
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(what_may_not_be_written_to_is_not_ordered) {
  PushRig rig;
  OutcomeSink granted(rig.rig->context.get_executor());
  OutcomeSink other(rig.rig->context.get_executor());
  auto rail = rig.granted(granted);
  auto slices = rig.slices(0, 2 * kKi, kKi);
  // Another sink's memory is nobody else's.
  rail->post(kRead, std::span(slices).first(1), other);
  slices[1].destination = rig.rig->memory.data() + VerbsRig::kBytes - 1;
  rail->post(kRead, std::span(slices).last(1), granted);
  rig.rig->run(other.outcomes(1));
  rig.rig->run(granted.outcomes(1));
  BOOST_TEST(other.count(Errc::kInvalidArgument) == 1);
  BOOST_TEST(granted.count(Errc::kInvalidArgument) == 1);
  BOOST_TEST(rig.courier->orders.empty());
  rig.revoke(*rail, granted);
  slices[1].destination = rig.rig->memory.data();
  slices[1].tag = 99;
  rail->post(kRead, std::span(slices).last(1), granted);
  rig.rig->run(granted.outcomes(2));
  BOOST_TEST(granted.count(Errc::kInvalidArgument) == 2);
  BOOST_TEST(rig.courier->orders.empty());
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(without_a_courier_nothing_is_pushed) {
  VerbsRig rig;
  auto rail = rig.connected();
  BOOST_TEST(!rail->capabilities().pushes);
  OutcomeSink sink(rig.context.get_executor());
  auto slices = rig.slices(0, kKi, kKi);
  slices[0].pushed = true;
  rail->post(kRead, slices, sink);
  rig.run(sink.outcomes(1));
  BOOST_TEST(sink.count(Errc::kInvalidArgument) == 1);
  // Nor may the peer write.
  for (const auto* pair : rig.asking()) {
    BOOST_TEST(pair->attributes.qp_access_flags == 0U);
    BOOST_TEST(pair->receives.empty());
  }
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(receives_never_run_out) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  constexpr std::size_t kSlices = 256;
  rail->post(kRead, rig.slices(0, kSlices * 64, 64), sink);
  std::size_t done = 0;
  while (done < kSlices) {
    // As many as may be under way are, and one RECV more than that is posted.
    const std::size_t ordered = rig.courier->orders.size();
    std::map<std::uint64_t, std::size_t> under_way;
    for (std::size_t i = done; i < ordered; ++i) ++under_way[rig.courier->orders[i].channel];
    for (const auto* pair : rig.rig->asking()) {
      BOOST_TEST(pair->receives.size() > under_way[pair->attributes.dest_qp_num]);
      BOOST_TEST(pair->receives.size() == rig.rig->port->sizes().receives);
    }
    BOOST_TEST_REQUIRE(ordered > done);
    for (; done < ordered; ++done) {
      BOOST_TEST((rig.push_now(rig.courier->orders[done]) == Errc::kUnset));
      rig.courier->confirm(done);
    }
    rig.rig->run(sink.outcomes(done));
    rig.settle();
  }
  BOOST_TEST(sink.count(Errc::kUnset) == kSlices);
  BOOST_TEST(rig.rig->landed(0, kSlices * 64));
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(an_order_that_a_disk_keeps_is_not_too_old_when_its_bytes_come) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  constexpr std::size_t kSlices = 256;
  rail->post(kRead, rig.slices(0, kSlices * 64, 64), sink);
  rig.settle();
  const auto serve = [&](std::size_t from) {
    std::size_t done = from;
    while (done < rig.courier->orders.size()) {
      for (const std::size_t ordered = rig.courier->orders.size(); done < ordered; ++done) {
        BOOST_TEST((rig.push_now(rig.courier->orders[done]) == Errc::kUnset));
        rig.courier->confirm(done);
      }
      rig.settle();
    }
    return done;
  };
  // All but the first, whose channel may not run too far ahead of it.
  const std::size_t overtook = serve(1);
  BOOST_TEST((rig.push_now(rig.courier->orders.front()) == Errc::kUnset));
  rig.courier->confirm(0);
  rig.settle();
  BOOST_TEST(serve(overtook) == kSlices);
  rig.rig->run(sink.outcomes(kSlices));
  BOOST_TEST(sink.count(Errc::kUnset) == kSlices);
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(an_answer_to_a_rail_that_is_gone_is_nobodys) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, 2 * kKi, kKi), sink);
  close_rail(*rig.rig, std::move(rail));
  BOOST_TEST(sink.count(Errc::kFlushed) == 2);
  rig.courier->confirm(0);
  rig.courier->answer(1, Error(Errc::kConnectionLost, "the session has ended"));
  rig.settle();
  BOOST_TEST(sink.breaches() == 0);
}

BOOST_AUTO_TEST_CASE(a_device_without_receives_loses_the_rail) {
  PushRig rig;
  OutcomeSink sink(rig.rig->context.get_executor());
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  rig.rig->machine.errors = {{"post_recv", ENOMEM}};
  BOOST_TEST((rig.push_now(rig.courier->orders[0]) == Errc::kUnset));
  rig.rig->run_until([&rail] { return !rail->usable(); });
  rig.rig->machine.errors.clear();
  rig.rig->run(sink.outcomes(1));
  BOOST_TEST(sink.total() == 1);
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
