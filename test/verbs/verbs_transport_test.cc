#include "engine/rail/verbs/verbs_transport.h"

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <set>

#include "test/verbs/verbs_rig.h"

namespace corail::test {
namespace {

Task<void> close_beside_another(VerbsTransport* rail) { co_await rail->close(); }

BOOST_AUTO_TEST_SUITE(verbs_transport)

BOOST_AUTO_TEST_CASE(no_two_queue_pairs_begin_with_the_same_number) {
  VerbsRig rig;
  auto rail = rig.connected();
  std::set<std::uint32_t> first_numbers;
  std::size_t pairs = 0;
  for (const auto* pair : rig.machine.pairs()) {
    first_numbers.insert(pair->attributes.rq_psn);
    ++pairs;
  }
  BOOST_TEST(pairs == 4U);
  BOOST_TEST(first_numbers.size() == pairs);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(every_byte_lands_over_all_channels) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 64 * kKi, kKi), sink);
  BOOST_TEST(sink.total() == 0);
  const auto asking = rig.asking();
  BOOST_TEST_REQUIRE(asking.size() == 2);
  BOOST_TEST(asking[0]->posted.size() == 32);
  BOOST_TEST(asking[1]->posted.size() == 32);
  rig.machine.run_all();
  rig.run(sink.outcomes(64));
  BOOST_TEST(sink.count(Errc::kUnset) == 64);
  BOOST_TEST(sink.breaches() == 0);
  BOOST_TEST(rig.landed(0, 64 * kKi));
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(what_the_user_tunes_is_in_every_queue_pair) {
  VerbsOptions options;
  options.gid = 0;
  options.channels = 3;
  options.tuning.traffic_class = 106;
  options.tuning.service_level = 3;
  options.tuning.timeout = 14;
  options.tuning.retries = 6;
  options.tuning.rnr_retries = 5;
  options.tuning.pkey_index = 4;
  VerbsRig rig(std::move(options));
  auto rail = rig.connected();
  const auto asking = rig.asking();
  BOOST_TEST(asking.size() == 3);
  for (const auto* pair : rig.machine.pairs()) {
    BOOST_TEST(pair->attributes.pkey_index == 4);
    BOOST_TEST(pair->attributes.ah_attr.sl == 3);
    BOOST_TEST(pair->attributes.ah_attr.grh.traffic_class == 106);
    BOOST_TEST(pair->attributes.ah_attr.grh.sgid_index == 0);
  }
  for (const auto* pair : asking) {
    BOOST_TEST(pair->attributes.timeout == 14);
    BOOST_TEST(pair->attributes.retry_cnt == 6);
    BOOST_TEST(pair->attributes.rnr_retry == 5);
  }
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(few_requests_ask_for_a_completion_and_all_have_an_outcome) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 32 * kKi, kKi), sink);
  std::size_t signalled = 0;
  for (const auto* pair : rig.asking()) {
    for (const auto& posted : pair->posted) {
      if ((posted.work.send_flags & IBV_SEND_SIGNALED) != 0) ++signalled;
    }
    BOOST_TEST(!pair->posted.empty());
    BOOST_TEST((pair->posted.back().work.send_flags & IBV_SEND_SIGNALED) != 0);
  }
  BOOST_TEST(signalled <= 4);
  BOOST_TEST(rig.machine.calls["post_send"] == 2);
  rig.machine.run_all();
  rig.run(sink.outcomes(32));
  BOOST_TEST(sink.count(Errc::kUnset) == 32);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(more_than_a_queue_holds_waits_its_turn) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  const std::size_t most = rail->capabilities().max_slices;
  BOOST_TEST(most == 2 * rig.port->sizes().requests);
  rail->post(kRead, rig.slices(0, (most + 1) * 64, 64), sink);
  BOOST_TEST(rig.posted() == most);
  rig.run(sink.outcomes(1));
  BOOST_TEST(sink.count(Errc::kBusy) == 1);
  rig.machine.run_all();
  rig.run(sink.outcomes(most + 1));
  BOOST_TEST(sink.count(Errc::kUnset) == most);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(an_idle_rail_sleeps_until_the_device_tells) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  rig.context.restart();
  rig.context.poll();
  const std::size_t polls = rig.machine.calls["poll_cq"];
  for (int i = 0; i < 100; ++i) rig.context.poll();
  BOOST_TEST(rig.machine.calls["poll_cq"] == polls);
  rig.machine.run_all();
  rig.run(sink.outcomes(1));
  BOOST_TEST(sink.count(Errc::kUnset) == 1);
  // The event that woke it is not met again.
  rig.context.restart();
  for (int i = 0; i < 10; ++i) rig.context.poll();
  const std::size_t afterwards = rig.machine.calls["poll_cq"];
  for (int i = 0; i < 100; ++i) rig.context.poll();
  BOOST_TEST(rig.machine.calls["poll_cq"] == afterwards);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(channels_share_bytes_and_not_slices) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 32 * kKi, 32 * kKi), sink);
  rail->post(kRead, rig.slices(32 * kKi, 64 * kKi, kKi), sink);
  for (const auto* pair : rig.asking()) {
    std::uint64_t bytes = 0;
    for (const auto& posted : pair->posted) bytes += posted.pieces[0].length;
    BOOST_TEST(bytes == 32 * kKi);
  }
  run_device_until(rig, sink, 33);
  BOOST_TEST(sink.count(Errc::kUnset) == 33);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_small_completion_queue_makes_rails_wait_and_never_overflows) {
  VerbsRig rig(VerbsOptions(), [](auto& device) { device.attributes.max_cqe = 20; });
  auto first = rig.connected();
  auto second = rig.connected(SessionId(4));
  OutcomeSink ones(rig.context.get_executor());
  OutcomeSink others(rig.context.get_executor());
  first->post(kRead, rig.slices(0, 32 * kKi, kKi), ones);
  second->post(kRead, rig.slices(32 * kKi, 64 * kKi, kKi), others);
  BOOST_TEST(rig.posted() == 20);
  run_device_until(rig, ones, 32);
  run_device_until(rig, others, 32);
  BOOST_TEST(ones.count(Errc::kUnset) == 32);
  BOOST_TEST(others.count(Errc::kUnset) == 32);
  BOOST_TEST(rig.landed(0, 64 * kKi));
  rig.run(close_beside_another(first.get()));
  first.reset();
  close_rail(rig, std::move(second));
}

BOOST_AUTO_TEST_CASE(a_slice_that_fails_when_its_turn_comes_is_told) {
  VerbsRig rig(VerbsOptions(), [](auto& device) { device.attributes.max_cqe = 4; });
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  auto slices = rig.slices(0, 5 * kKi, kKi);
  std::vector<std::byte> foreign(kKi);
  slices[4].destination = foreign.data();
  rail->post(kRead, slices, sink);
  BOOST_TEST(rig.posted() == 4);
  rig.machine.run_all();
  rig.context.restart();
  for (int i = 0; i < 100; ++i) rig.context.poll();
  BOOST_TEST(sink.count(Errc::kUnset) == 4);
  BOOST_TEST(sink.count(Errc::kInvalidArgument) == 1);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(every_connect_asks_which_address_the_port_has) {
  VerbsRig rig;
  auto before = rig.connected();
  close_rail(rig, std::move(before));
  ibv_gid_entry& gid = rig.machine.port_of("a").gids[1];
  gid.gid_index = 5;
  gid.gid.raw[15] = 77;
  auto rail = rig.connected();
  for (const auto* pair : rig.machine.pairs()) {
    BOOST_TEST(pair->attributes.ah_attr.grh.sgid_index == 5);
    BOOST_TEST(pair->attributes.ah_attr.grh.dgid.raw[15] == 77);
  }
  BOOST_TEST(rig.port->address() == "10.77.0.77");
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(what_is_no_slice_of_the_rails_is_refused_by_outcome) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  auto slices = rig.slices(0, 5 * kKi, kKi);
  std::vector<std::byte> foreign(kKi);
  slices[0].destination = foreign.data();
  slices[1].length = 0;
  slices[2].length = rail->capabilities().max_slice_bytes + 1;
  slices[3].destination = rig.memory.data() + rig.memory.size() - 1;
  // Cut to 32 bits it would be a good one.
  slices[4].remote_key |= std::uint64_t{1} << 32;
  rail->post(kRead, slices, sink);
  BOOST_TEST(sink.total() == 0);
  rig.run(sink.outcomes(5));
  BOOST_TEST(sink.count(Errc::kInvalidArgument) == 5);
  BOOST_TEST(rail->usable());
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_rail_that_was_never_connected_takes_nothing) {
  VerbsRig rig;
  auto rail = rig.make_rail();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  rig.run(sink.outcomes(1));
  BOOST_TEST(sink.count(Errc::kRailFailed) == 1);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(closing_ends_what_is_posted) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 16 * kKi, kKi), sink);
  close_rail(rig, std::move(rail));
  BOOST_TEST(sink.count(Errc::kFlushed) == 16);
  BOOST_TEST(sink.breaches() == 0);
}

BOOST_AUTO_TEST_CASE(completions_that_belong_to_nobody_are_none) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  const std::uint64_t request = rig.asking()[0]->posted.empty()
                                    ? rig.asking()[1]->posted.front().work.wr_id
                                    : rig.asking()[0]->posted.front().work.wr_id;
  rig.machine.run_all();
  rig.run(sink.outcomes(1));
  // Late, of a slot that is free, of one that never was.
  for (const std::uint64_t wrong : {request, request + 1, std::uint64_t{0}, ~std::uint64_t{0}}) {
    rig.machine.invent(*rig.asking()[0], wrong);
  }
  rig.run_until([&rig] { return rig.port->stale_completions() == 4; });
  BOOST_TEST(sink.total() == 1);
  BOOST_TEST(sink.breaches() == 0);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
