// What verbs rails make of fences, refusals, broken paths and devices that answer nothing.
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <utility>

#include "engine/rail/verbs/kept_pairs.h"
#include "test/verbs/verbs_rig.h"

namespace corail::test {
namespace {

Task<void> fence(VerbsTransport* rail, SliceSink* sink, TimePoint deadline, Errc* code) {
  const auto fenced = co_await rail->fence(*sink, deadline);
  *code = fenced.ok() ? Errc::kUnset : fenced.error().code();
}

Task<void> try_connect(VerbsTransport* rail, RailEndpoint endpoint, TimePoint deadline,
                       Errc* code) {
  const auto connected = co_await rail->connect(std::move(endpoint), deadline);
  *code = connected.ok() ? Errc::kUnset : connected.error().code();
}
Task<void> close_it_now(VerbsTransport* rail) { co_await rail->close(); }
Task<void> end_session(VerbsRailDoor* door) { co_await door->drop_session(kSession); }

BOOST_AUTO_TEST_SUITE(verbs_faults)

BOOST_AUTO_TEST_CASE(a_fence_ends_its_sinks_slices_and_posts_the_others_again) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink given_up(rig.context.get_executor());
  OutcomeSink innocent(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 16 * kKi, kKi), given_up);
  rail->post(kRead, rig.slices(32 * kKi, 48 * kKi, kKi), innocent);
  Errc code = Errc::kBusy;
  rig.run(fence(rail.get(), &given_up, rig.soon(), &code));
  BOOST_TEST((code == Errc::kUnset));
  BOOST_TEST(given_up.count(Errc::kFlushed) == 16);
  BOOST_TEST(innocent.total() == 0);
  BOOST_TEST(rail->usable());
  run_device_until(rig, innocent, 16);
  BOOST_TEST(innocent.count(Errc::kUnset) == 16);
  BOOST_TEST(rig.landed(32 * kKi, 48 * kKi));
  BOOST_TEST(!rig.landed(0, 16 * kKi));
  BOOST_TEST(rail->usable());
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_fence_waits_for_every_flush) {
  VerbsRig rig;
  rig.machine.hold_flushes = true;
  rig.machine.copies_late = true;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 16 * kKi, kKi), sink);
  Errc code = Errc::kBusy;
  asio::co_spawn(rig.context, fence(rail.get(), &sink, rig.soon(), &code),
                 [](const std::exception_ptr&) {});
  rig.context.restart();
  for (int i = 0; i < 100; ++i) rig.context.poll();
  BOOST_TEST((code == Errc::kBusy));
  const auto asking = rig.asking();
  rig.machine.flush(*asking[0]);
  for (int i = 0; i < 100; ++i) rig.context.poll();
  BOOST_TEST((code == Errc::kBusy));
  rig.machine.flush(*asking[1]);
  rig.run_until([&code] { return code != Errc::kBusy; });
  BOOST_TEST((code == Errc::kUnset));
  BOOST_TEST(sink.count(Errc::kFlushed) == 16);
  rig.machine.hold_flushes = false;
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_device_that_never_flushes_is_stuck_and_closing_ends_it) {
  VerbsRig rig;
  rig.machine.hold_flushes = true;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 4 * kKi, kKi), sink);
  Errc code = Errc::kBusy;
  rig.run(fence(rail.get(), &sink, rig.clock.now(), &code));
  BOOST_TEST((code == Errc::kStuck));
  BOOST_TEST(sink.total() == 0);
  // Destroying the queue pairs is what is left.
  close_rail(rig, std::move(rail));
  BOOST_TEST(sink.count(Errc::kFlushed) == 4);
}

BOOST_AUTO_TEST_CASE(nothing_ends_while_the_device_refuses_to_destroy) {
  VerbsRig rig;
  rig.machine.hold_flushes = true;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 4 * kKi, kKi), sink);
  rig.machine.errors = {{"destroy_qp", EBUSY}};
  bool closed = false;
  asio::co_spawn(rig.context, rail->close(),
                 [&closed](const std::exception_ptr&) { closed = true; });
  rig.run_until([&rig] { return rig.machine.calls["destroy_qp"] >= 3; });
  BOOST_TEST(!closed);
  BOOST_TEST(sink.total() == 0);
  rig.machine.errors.clear();
  rig.run_until([&closed] { return closed; });
  BOOST_TEST(sink.count(Errc::kFlushed) == 4);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(what_is_never_destroyed_holds_up_neither_connect_nor_close) {
  VerbsRig rig;
  rig.keeps_for_ever = true;
  auto rail = rig.make_rail();
  // Its holder's end fails, with queue pairs at both.
  rig.machine.errors = {{"modify_qp:3", EINVAL}, {"destroy_qp", EIO}};
  const std::size_t before = kept_pairs();
  Errc code = Errc::kUnset;
  rig.run(try_connect(rail.get(), rig.endpoint, rig.soon(), &code));
  BOOST_TEST((code == Errc::kRailFailed));
  BOOST_TEST(kept_pairs() == before + 4);
  rig.run(close_it_now(rail.get()));
  rail.reset();
  rig.machine.errors.erase("modify_qp:3");
  auto second = rig.connected();
  rig.run(close_it_now(second.get()));
  second.reset();
  BOOST_TEST(kept_pairs() >= before + 6);
}

BOOST_AUTO_TEST_CASE(what_the_holder_refuses_is_not_the_paths_fault) {
  VerbsRig rig;
  auto rail = rig.connected();
  Errc lost = Errc::kUnset;
  rail->when_lost([&lost](const Error& why) { lost = why.code(); });
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, kKi, kKi), sink);
  rig.run(end_session(rig.door.get()));
  rig.machine.fail_one(*rig.asking()[0], IBV_WC_REM_ACCESS_ERR);
  rig.run_until([&lost] { return lost != Errc::kUnset; });
  BOOST_TEST((lost == Errc::kRefused));
  // A slice that comes too late may go to another rail all the same.
  OutcomeSink late(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, kKi, kKi), late);
  rig.run(late.outcomes(1));
  BOOST_TEST(late.count(Errc::kRailFailed) == 1);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_slice_is_posted_again_so_often_and_no_more) {
  VerbsOptions options;
  options.channels = 1;
  VerbsRig rig(std::move(options));
  auto rail = rig.connected();
  OutcomeSink innocent(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, kKi, kKi), innocent);
  int fences = 0;
  std::uint32_t psn = rig.asking()[0]->attributes.sq_psn;
  while (innocent.total() == 0) {
    OutcomeSink given_up(rig.context.get_executor());
    rail->post(kRead, rig.slices(8 * kKi, 9 * kKi, kKi), given_up);
    Errc code = Errc::kBusy;
    rig.run(fence(rail.get(), &given_up, rig.soon(), &code));
    BOOST_TEST_REQUIRE((code == Errc::kUnset));
    ++fences;
    rig.run_until([&] { return innocent.total() > 0 || rig.posted() == 1; });
    if (innocent.total() > 0) break;
    // Each queue pair counts its packets from another number.
    BOOST_TEST(rig.asking()[0]->attributes.sq_psn != psn);
    psn = rig.asking()[0]->attributes.sq_psn;
    BOOST_TEST_REQUIRE(fences < 20);
  }
  BOOST_TEST(fences == 9);
  BOOST_TEST(innocent.count(Errc::kFlushed) == 1);
  BOOST_TEST(rail->usable());
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_refused_request_fails_alone) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink wrong(rig.context.get_executor());
  OutcomeSink right(rig.context.get_executor());
  auto slices = rig.slices(0, 2 * kKi, kKi);
  slices[0].remote_key += 12345;
  slices[1].remote_offset = VerbsRig::kBytes - 1;
  rail->post(kRead, std::span(slices).first(1), wrong);
  rail->post(kRead, rig.slices(32 * kKi, 48 * kKi, kKi), right);
  rail->post(kRead, std::span(slices).last(1), wrong);
  run_device_until(rig, right, 16);
  run_device_until(rig, wrong, 2);
  BOOST_TEST(wrong.count(Errc::kRefused) == 2);
  BOOST_TEST(wrong.first_detail().find("remote access error") != std::string::npos);
  BOOST_TEST(right.count(Errc::kUnset) == 16);
  BOOST_TEST(rig.landed(32 * kKi, 48 * kKi));
  BOOST_TEST(rail->usable());
  // The queue pairs that it cost are there again.
  OutcomeSink after(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 16 * kKi, kKi), after);
  run_device_until(rig, after, 16);
  BOOST_TEST(after.count(Errc::kUnset) == 16);
  BOOST_TEST(rig.door->pairs() == 2);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_rebuilt_queue_pair_that_cannot_join_loses_the_rail) {
  VerbsRig rig;
  auto rail = rig.connected();
  int lost = 0;
  rail->when_lost([&lost](const Error&) { ++lost; });
  OutcomeSink sink(rig.context.get_executor());
  auto slices = rig.slices(0, kKi, kKi);
  slices[0].remote_key += 12345;
  rail->post(kRead, slices, sink);
  rig.machine.errors = {{"modify_qp:2", EINVAL}};
  rig.machine.run_all();
  rig.run_until([&lost] { return lost > 0; });
  BOOST_TEST(sink.count(Errc::kRefused) == 1);
  BOOST_TEST(lost == 1);
  BOOST_TEST(!rail->usable());
  rig.machine.errors.clear();
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_broken_path_loses_the_rail_once) {
  VerbsRig rig;
  auto rail = rig.connected();
  int lost = 0;
  rail->when_lost([&lost](const Error&) { ++lost; });
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 16 * kKi, kKi), sink);
  rig.machine.fail_one(*rig.asking()[0], IBV_WC_RETRY_EXC_ERR);
  rig.run(sink.outcomes(8));
  BOOST_TEST(sink.count(Errc::kRailFailed) == 1);
  BOOST_TEST(sink.count(Errc::kFlushed) == 7);
  BOOST_TEST(!rail->usable());
  BOOST_TEST(lost == 1);
  // The other queue pair is none the worse.
  run_device_until(rig, sink, 16);
  BOOST_TEST(sink.count(Errc::kUnset) == 8);
  BOOST_TEST(lost == 1);
  OutcomeSink late(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, kKi, kKi), late);
  rig.run(late.outcomes(1));
  BOOST_TEST(late.count(Errc::kRailFailed) == 1);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_flush_that_nobody_asked_for_loses_the_rail) {
  VerbsRig rig;
  auto rail = rig.connected();
  int lost = 0;
  rail->when_lost([&lost](const Error&) { ++lost; });
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 2 * kKi, kKi), sink);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  rig.machine.api().modify_qp(&rig.asking()[0]->base, &attributes, IBV_QP_STATE);
  rig.run(sink.outcomes(1));
  BOOST_TEST(sink.count(Errc::kFlushed) == 1);
  BOOST_TEST(lost == 1);
  BOOST_TEST(!rail->usable());
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(what_the_device_does_not_take_has_its_outcome) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rig.machine.errors = {{"post_send", EIO}};
  rail->post(kRead, rig.slices(0, 8 * kKi, kKi), sink);
  BOOST_TEST(sink.total() == 0);
  rig.run(sink.outcomes(8));
  BOOST_TEST(sink.count(Errc::kRailFailed) == 8);
  BOOST_TEST(!rail->usable());
  rig.machine.errors.clear();
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_broken_device_loses_every_rail_and_destroying_ends_what_is_posted) {
  VerbsRig rig;
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  rail->post(kRead, rig.slices(0, 8 * kKi, kKi), sink);
  rig.machine.errors = {{"poll_cq", EIO}};
  rig.executor.wake();
  rig.run_until([&rail] { return !rail->usable(); });
  BOOST_TEST(sink.total() == 0);
  close_rail(rig, std::move(rail));
  BOOST_TEST(sink.count(Errc::kFlushed) == 8);
  rig.machine.errors.clear();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
