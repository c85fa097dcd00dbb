// What stops a peer that writes, and when its slices have their outcomes.
#include <asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "test/verbs/slow_pushes.h"

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(verbs_push_fences)

BOOST_AUTO_TEST_CASE(nothing_ends_before_its_queue_pair_is_flushed_and_destroyed) {
  SlowPushes slow;
  ScriptedVerbs& machine = slow.rig.machine;
  TracingSink sink(machine);
  auto rail = slow.granted(sink);
  rail->post(kRead, slow.pushes.slices(0, kKi, kKi), sink);
  auto* const pair = slow.target(slow.pushes.courier->orders.at(0));
  BOOST_TEST_REQUIRE(pair != nullptr);
  const std::string number = std::to_string(pair->base.qp_num);
  machine.trace.clear();
  machine.hold_flushes = true;
  Errc code = Errc::kBusy;
  const SlowPushes::Ended fenced =
      slow.start(fence_slowly(rail.get(), &sink, slow.rig.soon(), &code));
  slow.run_ready();
  // Not on the port's thread.
  BOOST_TEST(machine.calls["modify_qp:6"] == 0U);
  slow.run_until([&] { return machine.calls["modify_qp:6"] == 1U; });
  // In ERR, which stops nothing.
  for (int i = 0; i < 10; ++i) {
    slow.run_ready();
    slow.run_call();
  }
  BOOST_TEST(machine.calls["destroy_qp"] == 0U);
  BOOST_TEST(sink.total == 0U);
  machine.hold_flushes = false;
  machine.flush(*pair);
  slow.run_ready();
  BOOST_TEST(machine.calls["destroy_qp"] == 0U);
  BOOST_TEST(sink.total == 0U);
  slow.finish(fenced);
  BOOST_TEST((code == Errc::kUnset));
  BOOST_TEST((sink.code == Errc::kFlushed));
  BOOST_TEST(machine.when("ERR " + number) < machine.when("flushed RECV " + number));
  BOOST_TEST(machine.when("flushed RECV " + number) < machine.when("destroyed " + number));
  BOOST_TEST(machine.when("destroyed " + number) < machine.when("outcome"));
  BOOST_TEST(machine.when("outcome") < machine.trace.size());
  BOOST_TEST(rail->usable());
  slow.finish(slow.start(close_slowly(rail.get())));
}

BOOST_AUTO_TEST_CASE(nothing_ends_while_the_device_refuses_to_destroy) {
  PushRig rig;
  TracingSink sink(rig.rig->machine);
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  rig.rig->machine.errors = {{"destroy_qp", EBUSY}};
  Errc code = Errc::kBusy;
  asio::co_spawn(rig.rig->context, fence_slowly(rail.get(), &sink, rig.soon(), &code),
                 [](const std::exception_ptr&) {});
  rig.rig->run_until([&rig] { return rig.rig->machine.calls["destroy_qp"] >= 3; });
  BOOST_TEST(sink.total == 0U);
  BOOST_TEST((code == Errc::kBusy));
  rig.rig->machine.errors.clear();
  rig.rig->run_until([&code] { return code != Errc::kBusy; });
  BOOST_TEST(sink.total == 1U);
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(keys_are_made_and_taken_back_on_control_threads) {
  SlowPushes slow;
  ScriptedVerbs& machine = slow.rig.machine;
  TracingSink sink(machine);
  auto rail = slow.granted(sink);
  slow.finish(slow.start(revoke_slowly(rail.get(), &sink)));
  machine.trace.clear();
  std::vector<std::span<std::byte>> memory;
  memory.emplace_back(slow.rig.memory);
  Errc code = Errc::kBusy;
  const SlowPushes::Ended granted =
      slow.start(grant_slowly(rail.get(), &sink, std::move(memory), slow.rig.soon(), &code));
  slow.run_ready();
  BOOST_TEST(machine.trace.empty());
  slow.finish(granted);
  BOOST_TEST((code == Errc::kUnset));
  BOOST_TEST_REQUIRE(machine.trace.size() == 1U);
  const std::string registered = machine.trace.front();
  BOOST_TEST(registered.rfind("registered ", 0) == 0U);
  const SlowPushes::Ended revoked = slow.start(revoke_slowly(rail.get(), &sink));
  slow.run_ready();
  BOOST_TEST(machine.trace.size() == 1U);
  slow.finish(revoked);
  BOOST_TEST(machine.when("de" + registered) == 1U);
  // What came too late is taken back as well.
  BOOST_TEST((slow.grant(*rail, sink, slow.rig.clock.now()) == Errc::kDeadline));
  BOOST_TEST(machine.trace.size() == 4U);
  BOOST_TEST(machine.trace.back().rfind("deregistered ", 0) == 0U);
  slow.finish(slow.start(close_slowly(rail.get())));
}

BOOST_AUTO_TEST_CASE(a_key_lets_write_into_the_memory_of_one_read_and_nothing_else) {
  PushRig rig;
  TracingSink sink(rig.rig->machine);
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  const PushOrder& order = rig.courier->orders.at(0);
  const auto* const region = rig.rig->machine.region(static_cast<std::uint32_t>(order.write_key));
  BOOST_TEST_REQUIRE(region != nullptr);
  BOOST_TEST(region->access == (unsigned{IBV_ACCESS_LOCAL_WRITE} | IBV_ACCESS_REMOTE_WRITE));
  BOOST_TEST(region->base.addr == static_cast<void*>(rig.rig->memory.data()));
  BOOST_TEST(region->base.length == VerbsRig::kBytes);
  rig.rig->machine.errors = {{"reg_mr", ENOMEM}};
  TracingSink second(rig.rig->machine);
  const auto granted = rig.grant(*rail, second);
  BOOST_TEST((!granted.ok() && granted.error().code() == Errc::kOutOfMemory));
  rig.rig->machine.errors.clear();
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(others_orders_are_flushed_and_others_reads_go_on) {
  VerbsOptions options;
  options.channels = 1;
  PushRig rig(std::move(options));
  OutcomeSink given_up(rig.rig->context.get_executor());
  OutcomeSink pushed(rig.rig->context.get_executor());
  OutcomeSink pulled(rig.rig->context.get_executor());
  auto rail = rig.granted(given_up);
  BOOST_TEST_REQUIRE(rig.grant(*rail, pushed).ok());
  rail->post(kRead, rig.slices(0, 40 * 64, 64), given_up);
  rail->post(kRead, rig.slices(8 * kKi, 12 * kKi, kKi), pushed);
  rail->post(kRead, rig.rig->slices(32 * kKi, 40 * kKi, kKi), pulled);
  BOOST_TEST(rig.courier->orders.size() == 32U);
  BOOST_TEST((rig.fence(*rail, given_up) == Errc::kUnset));
  // Those that were not ordered, too.
  BOOST_TEST(given_up.count(Errc::kFlushed) == 40U);
  BOOST_TEST(pulled.total() == 0U);
  run_device_until(*rig.rig, pulled, 8);
  BOOST_TEST(pulled.count(Errc::kUnset) == 8U);
  // The others' waited behind, and are ordered on the queue pair that came.
  BOOST_TEST_REQUIRE(rig.courier->orders.size() == 36U);
  BOOST_TEST(rig.courier->orders[32].number > rig.courier->orders[31].number);
  BOOST_TEST(rig.courier->orders[32].channel != rig.courier->orders[31].channel);
  // What is late for the one that went writes nothing.
  BOOST_TEST((rig.push_now(rig.courier->orders[31]) == Errc::kRefused));
  BOOST_TEST((rig.push_now(rig.courier->orders[32]) == Errc::kUnset));
  rig.courier->confirm(32);
  rig.rig->run(pushed.outcomes(1));
  BOOST_TEST(pushed.count(Errc::kUnset) == 1U);
  OutcomeSink another(rig.rig->context.get_executor());
  rail->post(kRead, rig.rig->slices(0, kKi, kKi), another);
  BOOST_TEST((rig.fence(*rail, another) == Errc::kUnset));
  rig.rig->run(pushed.outcomes(4));
  BOOST_TEST(pushed.count(Errc::kFlushed) == 3U);
  BOOST_TEST(rail->usable());
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(an_answer_that_leaves_open_what_the_owner_writes_is_fenced) {
  for (const Errc answer : {Errc::kConnectionLost, Errc::kRailFailed, Errc::kDeadline}) {
    PushRig rig;
    ScriptedVerbs& machine = rig.rig->machine;
    TracingSink sink(machine);
    auto rail = rig.granted(sink);
    Errc lost = Errc::kUnset;
    rail->when_lost([&lost](const Error& why) { lost = why.code(); });
    rail->post(kRead, rig.slices(0, kKi, kKi), sink);
    const std::string peer = std::to_string(rig.courier->orders[0].channel);
    std::string number;
    for (const auto* pair : rig.rig->asking()) {
      if (std::to_string(pair->attributes.dest_qp_num) == peer) {
        number = std::to_string(pair->base.qp_num);
      }
    }
    machine.trace.clear();
    rig.courier->answer(0, Error(answer, Stage::kWait, "nothing was heard"));
    BOOST_TEST(sink.total == 0U);
    rig.rig->run_until([&sink] { return sink.total > 0; });
    BOOST_TEST((sink.code == Errc::kConnectionLost));
    BOOST_TEST((lost == Errc::kConnectionLost));
    BOOST_TEST(!rail->usable());
    BOOST_TEST(machine.when("flushed RECV " + number) < machine.when("destroyed " + number));
    BOOST_TEST(machine.when("destroyed " + number) < machine.when("outcome"));
    close_rail(*rig.rig, std::move(rail));
  }
}

BOOST_AUTO_TEST_CASE(a_refused_read_costs_the_orders_of_its_queue_pair_too) {
  VerbsOptions options;
  options.channels = 1;
  PushRig rig(std::move(options));
  OutcomeSink pushed(rig.rig->context.get_executor());
  OutcomeSink wrong(rig.rig->context.get_executor());
  auto rail = rig.granted(pushed);
  rail->post(kRead, rig.slices(0, kKi, kKi), pushed);
  auto slices = rig.rig->slices(0, kKi, kKi);
  slices[0].remote_key += 12345;
  rail->post(kRead, slices, wrong);
  run_device_until(*rig.rig, wrong, 1);
  BOOST_TEST(wrong.count(Errc::kRefused) == 1U);
  rig.rig->run(pushed.outcomes(1));
  BOOST_TEST(pushed.count(Errc::kFlushed) == 1U);
  BOOST_TEST(rail->usable());
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_flush_that_nobody_asked_for_loses_the_rail) {
  PushRig rig;
  TracingSink sink(rig.rig->machine);
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  for (auto* const pair : rig.rig->asking()) {
    if (pair->attributes.dest_qp_num != rig.courier->orders[0].channel) continue;
    rig.rig->machine.api().modify_qp(&pair->base, &attributes, IBV_QP_STATE);
  }
  rig.rig->run_until([&sink] { return sink.total > 0; });
  BOOST_TEST((sink.code == Errc::kFlushed));
  BOOST_TEST(!rail->usable());
  close_rail(*rig.rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_device_that_never_flushes_is_stuck_and_closing_ends_it) {
  PushRig rig;
  rig.rig->machine.hold_flushes = true;
  TracingSink sink(rig.rig->machine);
  auto rail = rig.granted(sink);
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  Errc code = Errc::kBusy;
  rig.rig->run(fence_slowly(rail.get(), &sink, rig.rig->clock.now(), &code));
  BOOST_TEST((code == Errc::kStuck));
  BOOST_TEST(sink.total == 0U);
  close_rail(*rig.rig, std::move(rail));
  BOOST_TEST(sink.total == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
