#include <fmt/core.h>

#include <array>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "test/hazard/sim_pair.h"
#include "test/support/read_rig.h"
#include "test/support/repetitions.h"

// A read is cancelled at each of its await points, from before its first to behind its last.
//
// What is counted as one is a step of the world: one handler that an executor runs, or one move of
// the clock to the next timer. Every suspension of the engine ends in a handler of its own, whether
// a completion, a timer or another coroutine wakes it, and nothing else can run between two of them
// on one thread; so the steps between begin and end of a read are all its await points, and those
// of everybody whom it waits for.

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// What one read had come to when it was cancelled, in the order of its life.
enum Stage : std::size_t { kQuerying, kAnswered, kLanding, kConfirming, kEnded, kStages };
constexpr std::array<std::string_view, kStages> kStageNames = {
    "before its query was there", "before its first slice", "with slices in flight",
    "while it was confirmed", "after its end"};

/// One read that was cancelled after some steps.
struct Attempt {
  int steps = 0;  // that it ran before, at the most as many as were asked for
  Stage stage = kQuerying;
  Result<void> result;
  std::string complaint;  // whatever is wrong, in words
};

void complain(Attempt& attempt, const std::string& what) {
  if (!what.empty()) attempt.complaint += what + "; ";
}

/// Calls run(0), run(1) and so on, to the first that ends before it is cancelled, and prints what
/// came of them. Some of them must have met the read in each of the stages.
template <typename Run>
void cancel_at_every_point(std::string_view what, const std::vector<Stage>& stages, Run run) {
  std::array<int, kStages> at{};
  int cancelled = 0;
  int committed = 0;
  int points = 0;
  for (int steps = 0; at[kEnded] == 0; ++steps) {
    BOOST_TEST_CONTEXT(what << ", cancelled after " << steps << " steps") {
      const Attempt attempt = run(steps);
      points = attempt.steps;
      ++at[attempt.stage];
      ++(attempt.result.ok() ? committed : cancelled);
      BOOST_TEST((attempt.result.ok() || attempt.result.error().code() == Errc::kCancelled),
                 text_of(attempt.result));
      // The first and the last of them leave no choice.
      if (attempt.stage < kConfirming) BOOST_TEST(!attempt.result.ok());
      if (attempt.stage == kEnded) BOOST_TEST(attempt.result.ok());
      BOOST_TEST(attempt.complaint == "");
    }
  }
  fmt::print("{}: {} await points; cancelled at {} of them: {} cancelled, {} committed\n", what,
             points, cancelled + committed, cancelled, committed);
  for (std::size_t stage = 0; stage < kStages; ++stage) {
    fmt::print("  {:>5} {}\n", at[stage], kStageNames[stage]);
  }
  BOOST_TEST(committed >= 1);
  for (const Stage stage : stages) BOOST_TEST(at[stage] > 0, kStageNames[stage]);
}

/// The session of a read alone, over mock rails.
Attempt cancel_session(int steps) {
  Attempt attempt;
  HeldShape shape;
  shape.blocks = 10;
  ReadRig rig(shape, std::vector<RailPlan>(2), 5);
  rig.owner.confirm_answer = OwnerAnswer(ok_result(), microseconds(70));
  ReadRequest request = rig.request();
  CancelToken token = request.cancel;
  const auto read = rig.make(std::move(request));
  const auto outcome = rig.world.start(read->run());
  while (attempt.steps < steps && !outcome->has_value() && rig.world.step()) ++attempt.steps;
  attempt.stage = kAnswered;
  if (rig.rails.transport(0).counters().posted > 0) attempt.stage = kLanding;
  if (rig.owner.confirms > 0) attempt.stage = kConfirming;
  if (outcome->has_value()) attempt.stage = kEnded;
  token.cancel();
  rig.world.run_until_idle();
  if (!outcome->has_value()) {
    attempt.complaint = "it never ended";
    return attempt;
  }
  attempt.result = **outcome;
  complain(attempt, rig.complaint(*read, attempt.result).value_or(""));
  if (rig.owner.leases() > 0) complain(attempt, "its lease is left");
  return attempt;
}

Stage stage_of(const sim::SimPair::Fetch& fetch) {
  if (fetch.ended()) return kEnded;
  if (fetch.record->confirm_sent) return kConfirming;
  if (!fetch.record->posted.empty()) return kLanding;
  return fetch.record->leased ? kAnswered : kQuerying;
}

/// The public path between two nodes: query, plan, fan out, join, prepare, confirm, commit, seal.
Attempt cancel_fetch(int steps, const sim::PairPlan& plan) {
  Attempt attempt;
  const ResourceCensus before;
  {
    sim::SimPair pair(plan);
    FetchOptions options;
    // Where no rail is lost, this changes nothing.
    options.retry_on_survivors = true;
    auto fetch = pair.start(options);
    while (attempt.steps < steps && !fetch.ended() && pair.world().step()) ++attempt.steps;
    attempt.stage = stage_of(fetch);
    pair.cancel(fetch);
    const auto& report = pair.finish(fetch);
    attempt.result = report.ok() ? ok_result() : Result<void>(report.error());
    // The lease may still be on its way back, nothing else.
    pair.world().run_for(milliseconds(1));
    complain(attempt, pair.difference());
    auto next = pair.start(options);
    const auto& after = pair.finish(next);
    if (!after.ok()) complain(attempt, "the next read failed: " + after.error().to_string());
    complain(attempt, pair.close());
  }
  complain(attempt, before.difference());
  return attempt;
}

const std::vector<Stage> kAllStages = {kQuerying, kAnswered, kLanding, kConfirming};

BOOST_AUTO_TEST_SUITE(cancel_points)

BOOST_AUTO_TEST_CASE(of_a_read_session) {
  cancel_at_every_point("a read session over the mock", {kAnswered, kLanding, kConfirming},
                        cancel_session);
}

BOOST_AUTO_TEST_CASE(of_a_fetch_between_two_nodes) {
  cancel_at_every_point("a fetch between two nodes", kAllStages,
                        [](int steps) { return cancel_fetch(steps, sim::PairPlan()); });
}

BOOST_AUTO_TEST_CASE(of_a_fetch_whose_fences_are_its_own) {
  sim::PairPlan plan;
  plan.shared_fence = false;
  cancel_at_every_point("a fetch with local fences", kAllStages,
                        [&plan](int steps) { return cancel_fetch(steps, plan); });
}

BOOST_AUTO_TEST_CASE(of_a_fetch_that_loses_a_rail) {
  sim::PairPlan plan;
  plan.scripts.resize(2);
  plan.scripts[1].add(Fault(FaultKind::kCut, 1).at_packet(2));
  cancel_at_every_point("a fetch that loses one of two rails", kAllStages,
                        [&plan](int steps) { return cancel_fetch(steps, plan); });
}

BOOST_DATA_TEST_CASE(one_of_eight_fetches, boost::unit_test::data::make({false, true}),
                     shared_fence) {
  constexpr int kInstants = repetitions(20);
  constexpr std::size_t kVictim = 3;
  int cancelled = 0;
  for (int instant = 0; instant < kInstants; ++instant) {
    BOOST_TEST_CONTEXT("instant " << instant) {
      sim::PairPlan plan;
      plan.shared_fence = shared_fence;
      sim::SimPair pair(plan);
      std::vector<sim::SimPair::Fetch> fetches;
      for (std::size_t i = 0; i < 8; ++i) fetches.push_back(pair.start(FetchOptions()));
      pair.world().run_for(microseconds(7'000) * instant / kInstants);
      pair.cancel(fetches[kVictim]);
      for (std::size_t i = 0; i < fetches.size(); ++i) {
        const auto& report = pair.finish(fetches[i]);
        if (i == kVictim && !report.ok()) {
          ++cancelled;
          BOOST_TEST((report.error().code() == Errc::kCancelled), report.error().to_string());
        } else {
          BOOST_TEST(report.ok(), (report.ok() ? "" : report.error().to_string()));
        }
      }
      pair.world().run_for(milliseconds(1));
      BOOST_TEST(pair.difference() == "");
      BOOST_TEST(pair.close() == "");
    }
  }
  BOOST_TEST(cancelled > kInstants / 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
