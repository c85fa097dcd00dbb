#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "test/object_store/disk_machine.h"

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(disk_faults)

// One failing call of each put, at each place in turn: the error is typed, what was there stays
// readable, and the next put succeeds and leaves nothing behind.
BOOST_AUTO_TEST_CASE(an_input_output_error_anywhere_keeps_the_old_generation) {
  std::uint64_t failed = 0;
  bool more = true;
  for (std::uint64_t call = 1; more; ++call) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      DiskMachine machine(call * 10 + seed);
      BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
      const std::uint64_t at = machine.disk().calls() + call;
      machine.disk().fail_at(at);
      const auto put = machine.put("k", 2, kSize);
      more = machine.disk().calls() >= at;
      machine.disk().fail_at(0);
      BOOST_TEST_CONTEXT("call " << call << ", seed " << seed << ": " << text_of(put)) {
        // A failure behind the commit, while the old one is removed, is none of the put.
        failed += put.ok() ? 0 : 1;
        BOOST_TEST((put.ok() || put.error().code() == Errc::kStoreFailed));
        BOOST_TEST(machine.holds("k", put.ok() ? 2 : 1));
        BOOST_TEST(machine.put("k", 3, kSize).ok());
        BOOST_TEST(machine.holds("k", 3));
        machine.restart();
        BOOST_TEST(machine.holds("k", 3));
        BOOST_TEST(machine.files().size() == kFiles, joined(machine.files()));
      }
    }
  }
  BOOST_TEST_MESSAGE(failed << " puts failed");
  BOOST_TEST(failed > 40U);
}

// The same, but the machine restarts after the failure: it finds one of the two, complete.
BOOST_AUTO_TEST_CASE(after_an_error_a_restart_finds_either_generation_complete) {
  bool more = true;
  for (std::uint64_t call = 1; more; ++call) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      DiskMachine machine(call * 10 + seed);
      BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
      const std::uint64_t at = machine.disk().calls() + call;
      machine.disk().fail_at(at);
      const bool ok = machine.put("k", 2, kSize).ok();
      more = machine.disk().calls() >= at;
      machine.disk().fail_at(0);
      machine.stop();
      machine.disk().restart(seed % 2 == 0 ? CrashLoss::kAll : CrashLoss::kSome);
      BOOST_TEST(machine.restart().refused.empty());
      const bool old_or_new = machine.holds("k", 2) || (!ok && machine.holds("k", 1));
      BOOST_TEST(old_or_new, "call " << call << ", seed " << seed);
      BOOST_TEST(machine.files().size() == kFiles, joined(machine.files()));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_delete_that_fails_leaves_the_object_and_can_be_repeated) {
  bool more = true;
  for (std::uint64_t call = 1; more; ++call) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      DiskMachine machine(call * 10 + seed);
      BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
      const std::uint64_t at = machine.disk().calls() + call;
      machine.disk().fail_at(at);
      const auto erased = machine.run(machine.store().erase("k", std::nullopt));
      machine.settle();
      more = machine.disk().calls() >= at;
      machine.disk().fail_at(0);
      if (!erased) {
        BOOST_TEST((erased.error().code() == Errc::kStoreFailed));
        BOOST_TEST(machine.holds("k", 1));
        BOOST_TEST(machine.run(machine.store().erase("k", std::nullopt)).ok());
      }
      machine.restart();
      BOOST_TEST(machine.nothing_left(), joined(machine.files()));
    }
  }
}

BOOST_AUTO_TEST_CASE(disk_full_is_typed_and_the_old_generation_stays) {
  // From no room at all to room for all but a byte.
  for (std::uint64_t room = 0; room < 9 * kGranuleBytes; room += kGranuleBytes / 2) {
    DiskMachine machine;
    BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
    std::uint64_t used = 0;
    for (std::uint32_t i = 0; i < DiskMachine::kDevices; ++i) {
      for (const std::string& name : machine.disk().names(DiskMachine::path(i))) {
        used += machine.disk().content(DiskMachine::path(i), name)->size();
      }
    }
    machine.disk().set_capacity(used + room);
    const auto put = machine.put("k", 2, kSize);
    BOOST_TEST_CONTEXT("room " << room << ": " << text_of(put)) {
      BOOST_TEST(put.ok() == (room > kSize));
      BOOST_TEST((put.ok() || put.error().code() == Errc::kStoreFull));
      BOOST_TEST(machine.holds("k", put.ok() ? 2 : 1));
      // Nothing of the put takes the room that is left.
      BOOST_TEST(machine.files().size() == kFiles, joined(machine.files()));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_room_for_the_manifest_is_no_put) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  const PutRequest request = StoreRig::request("k", kSize);
  const auto put = machine.run(machine.store().begin_put(request));
  BOOST_REQUIRE(machine.write_all(*put, request, content_of(2, kSize)).ok());
  machine.disk().set_capacity(0);
  BOOST_TEST((code_of(machine.run(machine.store().commit_put(*put))) == Errc::kStoreFull));
  machine.settle();
  BOOST_TEST(machine.holds("k", 1));
  BOOST_TEST(machine.files().size() == kFiles, joined(machine.files()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
