// What a real device says of wrong requests and of ports that go down.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <span>
#include <thread>

#include "test/softroce/device_rig.h"
#include "test/softroce/link.h"
#include "test/softroce/queue_pairs.h"
#include "test/softroce/verbs_nodes.h"

namespace corail::test {
namespace {

/// CPU that this process has used.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

BOOST_AUTO_TEST_SUITE(faults)

BOOST_AUTO_TEST_CASE(wrong_requests_are_refused_and_the_others_go_on) {
  DeviceRig rig("rxe0");
  auto rail = rig.connected();
  const auto before = queue_pairs();
  OutcomeSink wrong(rig.context.get_executor());
  OutcomeSink right(rig.context.get_executor());
  auto bad = rig.slices(2 * 64 * kKiB, 64 * kKiB);
  bad[0].remote_key ^= 0xFFFF;
  bad[1].remote_offset = kHeldBytes - 1;
  const auto slices = rig.slices(kMiB, 64 * kKiB);
  rail->post(kRead, std::span(bad).first(1), wrong);
  rail->post(kRead, slices, right);
  rail->post(kRead, std::span(bad).last(1), wrong);
  rig.run(wrong.outcomes(2));
  rig.run(right.outcomes(slices.size()));
  BOOST_TEST(wrong.count(Errc::kRefused) == 2U, wrong.first_detail());
  BOOST_TEST(right.count(Errc::kUnset) == slices.size(), right.first_detail());
  BOOST_TEST(rig.landed(kMiB));
  BOOST_TEST(rail->usable());
  OutcomeSink after(rig.context.get_executor());
  rail->post(kRead, slices, after);
  rig.run(after.outcomes(slices.size()));
  BOOST_TEST(after.count(Errc::kUnset) == slices.size(), after.first_detail());
  BOOST_TEST(comes_true([&before] { return has_new_queue_pairs(before); }));
  rig.close(std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_key_that_was_taken_back_reads_nothing) {
  DeviceRig rig("rxe0");
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  const auto slices = rig.slices(64 * kKiB, 64 * kKiB);
  rig.held = registered_slab(*rig.port, MemoryUse::kServed);
  rail->post(kRead, slices, sink);
  rig.run(sink.outcomes(1));
  BOOST_TEST(sink.count(Errc::kRefused) == 1U, sink.first_detail());
  rig.close(std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_port_that_goes_down_fails_safely_and_comes_back) {
  DeviceRig rig("rxe0");
  auto rail = rig.connected();
  int lost = 0;
  rail->when_lost([&lost](const Error&) { ++lost; });
  OutcomeSink sink(rig.context.get_executor());
  LinkCut cut("ve0");
  const auto slices = rig.slices(kMiB, 64 * kKiB);
  rail->post(kRead, slices, sink);
  rig.run(sink.outcomes(slices.size()));
  BOOST_TEST(sink.count(Errc::kUnset) == 0U);
  BOOST_TEST(lost == 1);
  BOOST_TEST(!rail->usable());
  rig.close(std::move(rail));
  VerbsTransport down(rig.port, rig.clock);
  const auto refused = rig.try_connect(down);
  BOOST_TEST_REQUIRE(!refused.ok());
  BOOST_TEST((refused.error().code() == Errc::kConnectFailed), refused.error().to_string());
  cut.mend();
  rig.run_for(std::chrono::milliseconds(500));
  rail = rig.connected();
  OutcomeSink after(rig.context.get_executor());
  rail->post(kRead, slices, after);
  rig.run(after.outcomes(slices.size()));
  BOOST_TEST(after.count(Errc::kUnset) == slices.size(), after.first_detail());
  BOOST_TEST(rig.landed(kMiB));
  rig.close(std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_rail_that_has_read_and_is_idle_costs_no_cpu) {
  DeviceRig rig("rxe0");
  auto rail = rig.connected();
  // A port that was never woken has nothing to go back to sleep from.
  OutcomeSink sink(rig.context.get_executor());
  const auto slices = rig.slices(kMiB, 64 * kKiB);
  rail->post(kRead, slices, sink);
  rig.run(sink.outcomes(slices.size()));
  BOOST_TEST(sink.count(Errc::kUnset) == slices.size(), sink.first_detail());
  rig.run_for(std::chrono::milliseconds(200));
  const double before = cpu_seconds();
  rig.run_for(std::chrono::seconds(5));
  const double used = cpu_seconds() - before;
  std::printf("idle for 5 s: %.1f ms of CPU\n", used * 1000);
  BOOST_TEST(used < 0.05 * 5);
  rig.close(std::move(rail));
}

/// Both of them, with all their threads.
BOOST_AUTO_TEST_CASE(nodes_that_have_read_and_are_idle_cost_no_cpu) {
  VerbsNodes pair(verbs_shape(16));
  pair.check_reads();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::seconds(5));
  const double used = cpu_seconds() - before;
  std::printf("two nodes idle for 5 s: %.1f ms of CPU\n", used * 1000);
  BOOST_TEST(used < 0.05 * 5);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
