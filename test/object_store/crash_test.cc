#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "test/object_store/content.h"
#include "test/object_store/store_kinds.h"
#include "test/object_store/store_rig.h"
#include "test/support/repetitions.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kOldSize = 3 * kGranuleBytes + 5;  // two stripes
constexpr std::uint64_t kNewSize = 7 * kGranuleBytes + 9;  // four: two of them on one device
constexpr std::uint64_t kOldSeed = 11;                     // of the contents
constexpr std::uint64_t kNewSeed = 22;

/// So many crashes at each call; a sanitizer sees each way of losing things at least once.
constexpr std::uint64_t kSeeds = 10;
constexpr std::uint64_t kSeedStep = kSanitized ? 2 : 1;

struct Machine : OnSimulatedDisk, StoreRig {
  explicit Machine(std::uint64_t seed) : OnSimulatedDisk(seed) {}
  Result<RecoveryReport> boot() { return start(medium(executor())); }
  void crash(CrashLoss loss) {
    stop();
    disk().restart(loss);
  }
};

/// What a restart may find of the key "k".
enum class Found { kNothing, kOld, kNew, kMixture };

Found find(Machine& machine) {
  const auto got = machine.get("k");
  if (!got) return got.error().code() == Errc::kNotFound ? Found::kNothing : Found::kMixture;
  if (is_content(*got, kOldSeed, kOldSize)) return Found::kOld;
  return is_content(*got, kNewSeed, kNewSize) ? Found::kNew : Found::kMixture;
}

/// The files that belong to what was found, and not one more.
std::size_t files_of(Found found) {
  switch (found) {
    case Found::kOld:
      return 1 + 2;
    case Found::kNew:
      return 1 + 3;
    default:
      return 0;
  }
}

struct Scenario {
  std::function<void(Machine&)> before;
  std::function<bool(Machine&)> act;  // whether it succeeded
  std::set<Found> unfinished;         // what a restart may find where it did not succeed
  Found finished;                     // and where it did
};

/// Crashes at every call of the disk during `act`, once for each way of losing things. Returns the
/// number of calls.
std::uint64_t crash_at_every_call(const Scenario& scenario) {
  std::uint64_t calls = 0;
  bool more = true;
  for (std::uint64_t call = 1; more; ++call) {
    for (std::uint64_t seed = 0; seed < kSeeds; seed += kSeedStep) {
      const auto loss = seed < 2   ? CrashLoss::kAll
                        : seed < 4 ? CrashLoss::kNone
                        : seed < 6 ? CrashLoss::kProcessOnly
                                   : CrashLoss::kSome;
      Machine machine(call * 100 + seed);
      BOOST_REQUIRE(machine.boot().ok());
      scenario.before(machine);
      const std::uint64_t begin = machine.disk().calls();
      machine.disk().crash_at(begin + call);
      const bool done = scenario.act(machine);
      more = machine.disk().crashed();
      calls = machine.disk().calls() - begin;
      machine.crash(loss);
      BOOST_TEST_CONTEXT("crash at call " << call << ", seed " << seed) {
        const auto report = machine.boot();
        BOOST_REQUIRE_MESSAGE(report.ok(), text_of(report));
        BOOST_TEST(report->refused.empty(),
                   (report->refused.empty() ? "" : report->refused[0].to_string()));
        const Found found = find(machine);
        BOOST_TEST((done ? found == scenario.finished : scenario.unfinished.contains(found)),
                   "found " << static_cast<int>(found) << ", finished " << done);
        const auto left = machine.files();
        BOOST_TEST(left.size() == files_of(found), joined(left));
        // Whoever has seen it once finds it again, even if the power goes now, and what the process
        // that crashed had not synced is lost after all.
        machine.crash(seed % 2 == 0 ? CrashLoss::kAll : CrashLoss::kSome);
        const auto again = machine.boot();
        BOOST_REQUIRE_MESSAGE(again.ok(), text_of(again));
        BOOST_TEST(again->refused.empty());
        BOOST_TEST((find(machine) == found));
        // What was found can be replaced, by a generation of its own.
        const auto before = machine.store().lookup("k");
        const auto after = machine.put("k", 33, 1);
        BOOST_REQUIRE_MESSAGE(after.ok(), text_of(after));
        BOOST_TEST((!before.ok() || (*before)->object.generation < *after));
      }
    }
  }
  return calls;
}

void put_old(Machine& machine) { BOOST_REQUIRE(machine.put("k", kOldSeed, kOldSize).ok()); }
bool put_new(Machine& machine) { return machine.put("k", kNewSeed, kNewSize).ok(); }

BOOST_AUTO_TEST_SUITE(crashes)

BOOST_AUTO_TEST_CASE(put_crash_at_every_call_leaves_the_old_or_the_new) {
  const std::uint64_t calls =
      crash_at_every_call({put_old, put_new, {Found::kOld, Found::kNew}, Found::kNew});
  BOOST_TEST_MESSAGE("put over an object: " << calls << " calls, " << kSeeds / kSeedStep
                                            << " crashes at each");
  BOOST_TEST(calls > 15U);
}

BOOST_AUTO_TEST_CASE(first_put_crash_at_every_call_leaves_nothing_or_the_new) {
  // The first put of a store reserves generations, too.
  const std::uint64_t calls =
      crash_at_every_call({[](Machine&) {}, put_new, {Found::kNothing, Found::kNew}, Found::kNew});
  BOOST_TEST_MESSAGE("first put: " << calls << " calls, " << kSeeds / kSeedStep
                                   << " crashes at each");
  BOOST_TEST(calls > 15U);
}

BOOST_AUTO_TEST_CASE(delete_crash_at_every_call_leaves_the_old_or_nothing) {
  const auto erase = [](Machine& machine) {
    const bool done = machine.run(machine.store().erase("k", std::nullopt)).ok();
    machine.settle();
    return done;
  };
  const std::uint64_t calls =
      crash_at_every_call({put_old, erase, {Found::kOld, Found::kNothing}, Found::kNothing});
  BOOST_TEST_MESSAGE("delete: " << calls << " calls, " << kSeeds / kSeedStep << " crashes at each");
  BOOST_TEST(calls >= 4U);
}

BOOST_AUTO_TEST_CASE(start_crash_at_every_call_changes_nothing) {
  // Debris of a put, and of an object that was deleted, is being removed when the crash comes.
  const auto before = [](Machine& machine) {
    put_old(machine);
    const PutRequest request = StoreRig::request("k", kNewSize);
    const auto put = machine.run(machine.store().begin_put(request));
    BOOST_REQUIRE(machine.write_all(*put, request, content_of(kNewSeed, kNewSize)).ok());
    machine.disk().crash_at(machine.disk().calls() + 1);
    machine.crash(CrashLoss::kNone);
  };
  const auto restart = [](Machine& machine) { return machine.boot().ok(); };
  const std::uint64_t calls = crash_at_every_call({before, restart, {Found::kOld}, Found::kOld});
  BOOST_TEST_MESSAGE("restart: " << calls << " calls, " << kSeeds / kSeedStep
                                 << " crashes at each");
  BOOST_TEST(calls >= 12U);
}

// The very first start: either there is no store yet, or there is one.
BOOST_AUTO_TEST_CASE(making_a_store_crash_at_every_call_can_be_repeated) {
  bool more = true;
  std::uint64_t calls = 0;
  for (std::uint64_t call = 1; more; ++call) {
    for (std::uint64_t seed = 0; seed < kSeeds; seed += kSeedStep) {
      Machine machine(call * 100 + seed);
      machine.disk().crash_at(call);
      static_cast<void>(machine.boot());
      more = machine.disk().crashed();
      calls = machine.disk().calls();
      machine.crash(seed < 3 ? CrashLoss::kAll : CrashLoss::kSome);
      const auto report = machine.boot();
      BOOST_REQUIRE_MESSAGE(report.ok(), "call " << call << ": " << text_of(report));
      BOOST_TEST(put_new(machine));
      BOOST_TEST((find(machine) == Found::kNew));
    }
  }
  BOOST_TEST_MESSAGE("making a store: " << calls << " calls, " << kSeeds / kSeedStep
                                        << " crashes at each");
  BOOST_TEST(calls > 15U);
}

// Every generation that anybody was told, over crashes, deletes and restarts.
BOOST_AUTO_TEST_CASE(generations_are_monotonic_over_delete_and_restart) {
  SeededRandom random(5);
  Machine machine(5);
  ObjectGeneration last(0);
  std::uint64_t told = 0;
  for (int life = 0; life < 60; ++life) {
    machine.disk().crash_at(machine.disk().calls() + 12 + random.below(90));
    if (machine.boot().ok()) {
      for (int i = 0; i < 6 && !machine.disk().crashed(); ++i) {
        const auto begun = machine.run(machine.store().begin_put(StoreRig::request("k", 1)));
        if (!begun) continue;
        BOOST_TEST((last < *begun), last.value() << " before " << begun->value());
        last = *begun;
        ++told;
        static_cast<void>(machine.run(machine.store().write(*begun, 0, 0, content_of(1, 1))));
        static_cast<void>(machine.run(machine.store().commit_put(*begun)));
        if (random.below(2) == 0) {
          static_cast<void>(machine.run(machine.store().erase("k", std::nullopt)));
        }
      }
    }
    machine.crash(random.below(2) == 0 ? CrashLoss::kAll : CrashLoss::kSome);
  }
  BOOST_TEST(told > 100U);
}

// A disk that only forgets what was not synced: nothing that a put reported is lost.
BOOST_AUTO_TEST_CASE(what_was_committed_survives_a_disk_that_forgets_what_was_not_synced) {
  for (const CrashLoss loss : {CrashLoss::kAll, CrashLoss::kSome}) {
    Machine machine(9);
    for (std::uint64_t round = 1; round <= 20; ++round) {
      const auto booted = machine.boot();
      BOOST_REQUIRE_MESSAGE(booted.ok(), text_of(booted));
      if (round > 1) {
        const auto got = machine.get("k");
        BOOST_TEST((got.ok() && is_content(*got, round - 1, kNewSize)), text_of(got));
      }
      BOOST_REQUIRE(machine.put("k", round, kNewSize).ok());
      machine.crash(loss);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
