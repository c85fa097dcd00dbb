#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "engine/store/object_gate.h"
#include "test/object_store/content.h"
#include "test/object_store/disk_machine.h"
#include "test/object_store/store_kinds.h"
#include "test/object_store/store_rig.h"

namespace corail::test {
namespace {

using std::chrono::seconds;

constexpr std::uint64_t kStripe = 2 * kGranuleBytes;
constexpr SessionId kSession(1);
constexpr SessionId kOther(2);
constexpr ReadId kRead(7);

/// An object "k" in memory, and the gate to it.
struct GateRig : StoreRig, InMemory {
  GateRig() {
    BOOST_REQUIRE(start(medium(executor())).ok());
    BOOST_REQUIRE(put("k", 1, kSize).ok());
    make_gate({});
  }
  ~GateRig() {
    gate.reset();
    stop();
  }
  void make_gate(const ObjectGateOptions& options) {
    gate = std::make_unique<ObjectGate>(store(), options, clock(), executor());
  }
  Result<OpenedObject> open(ReadId read, SessionId session = kSession,
                            Freshness freshness = Freshness::kCurrent) {
    return gate->open(session, read, "k", std::nullopt, freshness, seconds(10));
  }
  Errc admit(SessionId session, ReadId read, const StripeMemory& stripe, std::uint64_t offset,
             std::uint64_t length) {
    return code_of(
        gate->admit(session, read, stripe.region, stripe.region_offset + offset, length));
  }

  std::unique_ptr<ObjectGate> gate;
};

BOOST_AUTO_TEST_SUITE(object_gate)

BOOST_FIXTURE_TEST_CASE(what_was_leased_is_admitted_and_nothing_else, GateRig) {
  const auto opened = open(kRead);
  BOOST_REQUIRE_MESSAGE(opened.ok(), text_of(opened));
  BOOST_TEST((opened->ttl == seconds(10)));
  BOOST_TEST(opened->info->object.size == kSize);
  const auto content = content_of(1, kSize);
  const StripeMemory& second = opened->places.stripes[1];
  const auto bytes =
      gate->admit(kSession, kRead, second.region, second.region_offset + 9, kStripe - 9);
  BOOST_REQUIRE_MESSAGE(bytes.ok(), text_of(bytes));
  BOOST_TEST(
      std::ranges::equal(bytes->bytes, std::span(content).subspan(kStripe + 9, kStripe - 9)));
  BOOST_TEST(!!bytes->pin);
  // I5: beyond the stripe, beside the object, in no region, of no length, of somebody else.
  const StripeMemory& last = opened->places.stripes[3];
  const std::uint64_t last_bytes = last.bytes.bytes.size();
  BOOST_TEST((admit(kSession, kRead, last, 0, last_bytes) == Errc::kUnset));
  BOOST_TEST((admit(kSession, kRead, last, 0, last_bytes + 1) == Errc::kRefused));
  BOOST_TEST((admit(kSession, kRead, last, last_bytes, 1) == Errc::kRefused));
  BOOST_TEST((admit(kSession, kRead, second, 0, 0) == Errc::kRefused));
  BOOST_TEST((admit(kSession, kRead, second, 1, ~std::uint64_t{0}) == Errc::kRefused));
  BOOST_TEST((admit(kSession, ReadId(8), second, 0, 1) == Errc::kRefused));
  BOOST_TEST((admit(kOther, kRead, second, 0, 1) == Errc::kRefused));
  StripeMemory elsewhere = second;
  elsewhere.region = RegionId(second.region.value() + 1);
  BOOST_TEST((admit(kSession, kRead, elsewhere, 0, 1) == Errc::kRefused));
}

BOOST_FIXTURE_TEST_CASE(another_objects_bytes_are_refused, GateRig) {
  BOOST_REQUIRE(put("other", 2, kSize).ok());
  const auto mine = open(kRead);
  const auto theirs =
      gate->open(kOther, kRead, "other", std::nullopt, Freshness::kCurrent, seconds(10));
  BOOST_REQUIRE((mine.ok() && theirs.ok()));
  for (const StripeMemory& stripe : theirs->places.stripes) {
    BOOST_TEST((admit(kSession, kRead, stripe, 0, 1) == Errc::kRefused));
    BOOST_TEST((admit(kOther, kRead, stripe, 0, 1) == Errc::kUnset));
  }
}

BOOST_FIXTURE_TEST_CASE(a_lapse_is_final_and_told, GateRig) {
  const auto opened = open(kRead);
  const StripeMemory stripe = opened->places.stripes[0];
  advance(seconds(9));
  BOOST_TEST((*gate->renew(kSession, kRead, seconds(5)) == seconds(5)));
  BOOST_TEST(gate->confirm(kSession, kRead).ok());
  // Not even the timer has run when the clock says so (I9).
  clock().advance(seconds(5));
  BOOST_TEST((admit(kSession, kRead, stripe, 0, 1) == Errc::kLeaseExpired));
  BOOST_TEST((code_of(gate->confirm(kSession, kRead)) == Errc::kLeaseExpired));
  settle();
  BOOST_TEST((code_of(gate->renew(kSession, kRead, seconds(5))) == Errc::kLeaseExpired));
  BOOST_TEST((admit(kSession, kRead, stripe, 0, 1) == Errc::kLeaseExpired));
  gate->release(kSession, kRead);
  BOOST_TEST((code_of(gate->confirm_and_release(kSession, kRead)) == Errc::kLeaseExpired));
  BOOST_TEST(store().stats().leases == 0U);
}

// I6: the last pin keeps the bytes, whatever became of lease, object and gate.
BOOST_FIXTURE_TEST_CASE(admitted_bytes_outlive_lease_and_object, GateRig) {
  const auto content = content_of(1, kSize);
  std::optional<Result<OpenedObject>> opened(open(kRead));
  const StripeMemory& stripe = (*opened)->places.stripes[2];
  auto bytes = gate->admit(kSession, kRead, stripe.region, stripe.region_offset, kStripe);
  BOOST_REQUIRE(bytes.ok());
  opened.reset();
  gate->release(kSession, kRead);
  BOOST_TEST(store().stats().leases == 0U);
  BOOST_REQUIRE(run(store().erase("k", std::nullopt)).ok());
  settle();
  BOOST_TEST(!nothing_left());
  const std::uint64_t granules = memory().free_bytes() / kGranuleBytes;
  BOOST_REQUIRE(put("other", 2, granules * kGranuleBytes).ok());
  BOOST_TEST(std::ranges::equal(bytes->bytes, std::span(content).subspan(2 * kStripe, kStripe)));
  BOOST_REQUIRE(run(store().erase("other", std::nullopt)).ok());
  settle();
  bytes->pin.reset();
  BOOST_TEST(nothing_left());
}

BOOST_FIXTURE_TEST_CASE(a_new_generation_matters_to_strict_readers_only, GateRig) {
  const ReadId snapshot(8);
  BOOST_REQUIRE(open(kRead).ok());
  BOOST_REQUIRE(open(snapshot, kSession, Freshness::kSnapshot).ok());
  BOOST_TEST(gate->confirm(kSession, kRead).ok());
  const auto replaced = put("k", 2, kSize);
  BOOST_REQUIRE(replaced.ok());
  BOOST_TEST((code_of(gate->confirm(kSession, kRead)) == Errc::kGenerationChanged));
  BOOST_TEST(gate->confirm(kSession, snapshot).ok());
  BOOST_TEST(store().stats().superseded == 1U);
  BOOST_TEST((code_of(gate->confirm_and_release(kSession, kRead)) == Errc::kGenerationChanged));
  BOOST_TEST(gate->confirm_and_release(kSession, snapshot).ok());
  BOOST_TEST(store().stats().superseded == 0U);
  BOOST_TEST((code_of(gate->confirm(kSession, kRead)) == Errc::kNotFound));
  const auto wrong = gate->open(kSession, ReadId(9), "k", ObjectGeneration(replaced->value() - 1),
                                Freshness::kCurrent, seconds(1));
  BOOST_TEST((code_of(wrong) == Errc::kGenerationChanged));
}

BOOST_FIXTURE_TEST_CASE(a_release_may_overtake_the_open, GateRig) {
  BOOST_TEST(!gate->knows(kSession, kRead));
  gate->release(kSession, kRead);
  BOOST_TEST(gate->knows(kSession, kRead));
  BOOST_TEST((code_of(open(kRead)) == Errc::kCancelled));
  gate->quiesce(kSession, ReadId(8));
  BOOST_TEST((code_of(open(ReadId(8))) == Errc::kCancelled));
  BOOST_TEST(store().stats().leases == 0U);
  // Remembered for so long, then forgotten.
  advance(seconds(121));
  BOOST_TEST(open(kRead).ok());
  BOOST_TEST((code_of(open(kRead)) == Errc::kInvalidArgument));
  BOOST_TEST(store().stats().leases == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_quiesced_read_is_served_no_more_and_keeps_its_lease, GateRig) {
  const auto opened = open(kRead);
  BOOST_TEST(gate->lease_of(kSession, kRead).ok());
  gate->quiesce(kSession, kRead);
  const StripeMemory& stripe = opened->places.stripes[0];
  BOOST_TEST((admit(kSession, kRead, stripe, 0, 1) == Errc::kRefused));
  BOOST_TEST((code_of(gate->lease_of(kSession, kRead)) == Errc::kRefused));
  BOOST_TEST(store().stats().leases == 1U);
  gate->release(kSession, kRead);
  BOOST_TEST(store().stats().leases == 0U);
}

BOOST_FIXTURE_TEST_CASE(a_requester_has_quotas_of_its_own, GateRig) {
  ObjectGateOptions options;
  options.max_leases_per_requester = 2;
  options.max_leased_bytes_per_requester = 2 * kSize;
  make_gate(options);
  BOOST_TEST(open(ReadId(1)).ok());
  BOOST_TEST(open(ReadId(2)).ok());
  BOOST_TEST((code_of(open(ReadId(3))) == Errc::kQuotaExceeded));
  BOOST_TEST(open(ReadId(3), kOther).ok());
  options.max_leases_per_requester = 9;
  options.max_leased_bytes_per_requester = 2 * kSize - 1;
  make_gate(options);
  BOOST_TEST(store().stats().leases == 0U);
  BOOST_TEST(open(ReadId(1)).ok());
  BOOST_TEST((code_of(open(ReadId(2))) == Errc::kQuotaExceeded));
  // What was refused left nothing behind.
  BOOST_TEST(store().stats().leases == 1U);
}

BOOST_FIXTURE_TEST_CASE(a_session_takes_its_leases_with_it, GateRig) {
  const auto opened = open(kRead);
  BOOST_REQUIRE(open(ReadId(8)).ok());
  BOOST_REQUIRE(open(kRead, kOther).ok());
  gate->drop_session(kSession);
  BOOST_TEST(store().stats().leases == 1U);
  const StripeMemory& stripe = opened->places.stripes[0];
  BOOST_TEST((admit(kSession, kRead, stripe, 0, 1) == Errc::kRefused));
  BOOST_TEST((admit(kOther, kRead, stripe, 0, 1) == Errc::kUnset));
}

BOOST_AUTO_TEST_CASE(an_object_on_directories_is_leased_and_never_admitted) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  ObjectGate gate(machine.store(), {}, machine.clock(), machine.executor());
  const auto opened =
      gate.open(kSession, kRead, "k", std::nullopt, Freshness::kCurrent, seconds(10));
  BOOST_REQUIRE(opened.ok());
  BOOST_TEST(!opened->places.in_memory);
  BOOST_TEST((code_of(gate.admit(kSession, kRead, RegionId(1), 0, 1)) == Errc::kRefused));
  const auto lease = gate.lease_of(kSession, kRead);
  BOOST_REQUIRE(lease.ok());
  std::vector<std::byte> stripe(kStripe);
  BOOST_TEST(machine.run(machine.store().read(*lease, 0, 0, stripe, ReadCheck::kVerify)).ok());
}

// Doors ask from their own threads while the home executor opens and releases.
BOOST_FIXTURE_TEST_CASE(any_thread_may_ask, GateRig) {
  const auto content = content_of(1, kSize);
  const StripeMemory stripe = open(ReadId(1))->places.stripes[1];
  std::atomic<bool> stop(false);
  std::atomic<std::uint64_t> read(100);
  std::atomic<std::uint64_t> admitted(0);
  std::atomic<std::uint64_t> wrong(0);
  std::vector<std::thread> doors;
  for (int i = 0; i < 2; ++i) {
    doors.emplace_back([&] {
      while (!stop.load()) {
        const auto bytes = gate->admit(kSession, ReadId(read.load()), stripe.region,
                                       stripe.region_offset + 3, 100);
        if (!bytes) continue;
        const auto expected = std::span(content).subspan(kStripe + 3, 100);
        wrong += std::ranges::equal(bytes->bytes, expected) ? 0 : 1;
        ++admitted;
      }
    });
  }
  for (int round = 0; round < 200 || admitted.load() == 0; ++round) {
    BOOST_REQUIRE(open(ReadId(++read)).ok());
    std::this_thread::yield();
    gate->release(kSession, ReadId(read.load()));
  }
  stop = true;
  for (std::thread& door : doors) door.join();
  BOOST_TEST(wrong.load() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
