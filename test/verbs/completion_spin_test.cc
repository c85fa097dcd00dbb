// How a port's completion queue is polled: within a budget, then armed, polled once more, asleep.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>

#include "engine/exec/executor.h"
#include "engine/rail/verbs/verbs_port.h"
#include "test/verbs/scripted_verbs.h"

namespace corail::test {
namespace {

using Steady = std::chrono::steady_clock;

/// What the executor's thread does with the queue, one letter each: p for a poll, a for arming it.
/// Written by that thread only, and read once it has ended.
struct Script {
  std::string calls;
  Steady::time_point first_poll;
  Steady::time_point first_arm;
  ScriptedVerbs* machine = nullptr;
  bool slip_in = false;  // a completion comes right after the queue was armed for the first time
  std::atomic<int> armed{0};
};
Script* script = nullptr;

int poll_cq(ibv_cq* cq, int most, ibv_wc* completions) {
  if (script->calls.empty()) script->first_poll = Steady::now();
  script->calls += 'p';
  return script->machine->api().poll_cq(cq, most, completions);
}

int req_notify_cq(ibv_cq* cq) {
  if (script->armed.load() == 0) script->first_arm = Steady::now();
  script->calls += 'a';
  // It came while the queue was not armed yet, so it makes no event.
  if (script->armed.load() == 0 && script->slip_in) {
    script->machine->invent(*script->machine->pairs().front(), 77);
  }
  const int error = script->machine->api().req_notify_cq(cq);
  ++script->armed;
  script->armed.notify_one();
  return error;
}

/// Runs a port on a thread of its own until its queue was armed so often.
std::uint64_t run_until_armed(Script& of, Duration spin, int times) {
  ScriptedVerbs machine;
  machine.add_device("a", 1);
  VerbsApi api = machine.api();
  api.poll_cq = &poll_cq;
  api.req_notify_cq = &req_notify_cq;
  of.machine = &machine;
  script = &of;
  ExecutorOptions thread;
  thread.spin = spin;
  Executor executor("spin", thread);
  VerbsOptions options;
  options.device = "a";
  auto port = *VerbsPort::open(api, executor, executor.asio_executor(), options);
  auto pair = *port->make_pair(PeerMay::kNothing);
  executor.start();
  for (int seen = 0; seen < times; seen = of.armed.load()) of.armed.wait(seen);
  executor.stop();
  const std::uint64_t stale = port->stale_completions();
  pair.reset();
  port->shut();
  port.reset();
  for (const std::string& breach : machine.breaches()) BOOST_ERROR(breach);
  return stale;
}

BOOST_AUTO_TEST_SUITE(completion_spin)

BOOST_AUTO_TEST_CASE(without_a_budget_it_sleeps_after_one_more_poll) {
  Script calls;
  run_until_armed(calls, Duration::zero(), 1);
  BOOST_TEST(calls.calls == "pap");
}

BOOST_AUTO_TEST_CASE(within_its_budget_it_only_polls) {
  Script calls;
  const Duration budget = std::chrono::milliseconds(2);
  run_until_armed(calls, budget, 1);
  BOOST_TEST((calls.first_arm - calls.first_poll >= budget));
  // One by one, a budget is many of them.
  const std::size_t arm = calls.calls.find('a');
  BOOST_TEST(arm > 32U);
  BOOST_TEST(calls.calls.substr(arm) == "ap");
}

BOOST_AUTO_TEST_CASE(what_slips_in_before_it_is_armed_is_found_and_it_spins_again) {
  Script calls;
  calls.slip_in = true;
  const std::uint64_t stale = run_until_armed(calls, std::chrono::microseconds(100), 2);
  BOOST_TEST(stale == 1U);
  const std::size_t first = calls.calls.find('a');
  const std::size_t second = calls.calls.find('a', first + 1);
  BOOST_TEST_REQUIRE(second != std::string::npos);
  BOOST_TEST(second - first > 32U);
  BOOST_TEST(calls.calls.substr(second) == "ap");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
