#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "test/store/support.h"

namespace corail::testing {
namespace {

using std::chrono::seconds;

struct Fixture : Holder {
  explicit Fixture(StoreOptions store_options = options()) : Holder(std::move(store_options)) {
    spec.layout = store->intern(layout_of(1, 64, 64));
    BOOST_REQUIRE(save(spec, hashes));
  }
  static StoreOptions options() {
    StoreOptions options = one_node(64 * kKiB);
    options.max_leases_per_requester = 4;
    options.max_ended_reads_per_requester = 6;
    return options;
  }
  LeaseId lease(SessionId session, std::uint64_t read, Duration ttl = {}) {
    const auto answer = query(session, read, hashes, ttl);
    BOOST_REQUIRE_MESSAGE(answer.ok(), (answer ? "" : answer.error().to_string()));
    return answer->lease;
  }
  Errc query_error(SessionId session, std::uint64_t read) {
    const auto answer = query(session, read, hashes);
    return answer ? Errc::kUnset : answer.error().code();
  }
  /// kUnset: confirmed.
  Errc confirm(SessionId session, std::uint64_t read) {
    const auto confirmed = store->confirm_and_release(session, ReadId(read));
    return confirmed ? Errc::kUnset : confirmed.error().code();
  }

  SaveSpec spec;
  std::vector<std::string> names = hash_names(4);
  std::vector<std::string_view> hashes = views(names);
};

/// Room for three leases of the four blocks of 128 bytes.
struct FewBytes : Fixture {
  FewBytes() : Fixture(options()) {}
  static StoreOptions options() {
    StoreOptions options = Fixture::options();
    options.max_leased_bytes_per_requester = 3 * 512;
    return options;
  }
};

BOOST_FIXTURE_TEST_SUITE(leases, Fixture)

BOOST_AUTO_TEST_CASE(confirmed_before_its_end_and_not_after) {
  lease(kAlice, 1, seconds(10));
  lease(kAlice, 2, seconds(10));
  advance(seconds(10) - Duration(1));
  BOOST_TEST((confirm(kAlice, 1) == Errc::kUnset));
  advance(Duration(1));
  BOOST_TEST((confirm(kAlice, 2) == Errc::kLeaseExpired));
  BOOST_TEST(store->stats().lapsed_leases == 1U);
  BOOST_TEST(store->stats().leases == 0U);
  BOOST_TEST((confirm(kAlice, 1) == Errc::kNotFound));  // was given back
  BOOST_TEST((confirm(kAlice, 3) == Errc::kNotFound));
}

BOOST_AUTO_TEST_CASE(the_clock_decides_even_if_the_timer_is_late) {
  lease(kAlice, 1, seconds(10));
  clock.advance(seconds(10));  // the callback is due and has not run
  BOOST_TEST((confirm(kAlice, 1) == Errc::kLeaseExpired));
  advance(seconds(1));
  BOOST_TEST((confirm(kAlice, 1) == Errc::kLeaseExpired));
  BOOST_TEST(store->stats().lapsed_leases == 1U);
}

BOOST_AUTO_TEST_CASE(each_lease_has_its_own_timer) {
  const std::uint64_t free_before = store->stats().free_bytes;
  for (std::uint64_t read = 1; read <= 4; ++read) {
    lease(kAlice, read, seconds(static_cast<int>(10 * read)));
  }
  for (const std::string_view hash : hashes) BOOST_REQUIRE(store->erase("ns", hash));
  for (std::uint64_t left = 4; left > 0; --left) {
    BOOST_TEST(store->stats().leases == left);
    BOOST_TEST(store->stats().free_bytes == free_before);
    TimePoint due;
    BOOST_REQUIRE(clock.next_due(due));
    BOOST_TEST((due == TimePoint(seconds(static_cast<int>(1 + 10 * (5 - left))))));
    advance(due - clock.now());
  }
  // The last one gave the bytes back without anybody asking.
  BOOST_TEST(store->stats().free_bytes == store->stats().capacity_bytes);
  TimePoint due;
  BOOST_TEST(!clock.next_due(due));
}

BOOST_AUTO_TEST_CASE(a_lapsed_lease_stays_lapsed) {
  lease(kAlice, 1, seconds(1));
  advance(seconds(2));
  store->release(kAlice, ReadId(1));
  BOOST_TEST((query_error(kAlice, 1) == Errc::kCancelled));
  BOOST_TEST((confirm(kAlice, 1) == Errc::kLeaseExpired));
}

BOOST_AUTO_TEST_CASE(the_time_to_live_has_a_default_and_a_cap) {
  BOOST_TEST((query(kAlice, 1, hashes)->ttl == seconds(120)));
  BOOST_TEST((query(kAlice, 2, hashes, seconds(7))->ttl == seconds(7)));
  BOOST_TEST((query(kAlice, 3, hashes, seconds(100'000))->ttl == seconds(600)));
  BOOST_TEST((query(kAlice, 4, hashes, -seconds(5))->ttl == seconds(120)));
}

BOOST_AUTO_TEST_CASE(a_renewed_lease_lasts_longer_and_never_less) {
  lease(kAlice, 1, seconds(10));
  advance(seconds(6));
  BOOST_TEST((store->renew(kAlice, ReadId(1), seconds(10)).value() == seconds(10)));
  advance(seconds(8));  // past the first end: the first timer must not end it
  BOOST_TEST(store->stats().leases == 1U);
  BOOST_TEST((store->renew(kAlice, ReadId(1), seconds(1)).value() == seconds(2)));
  advance(seconds(2) - Duration(1));
  BOOST_TEST((confirm(kAlice, 1) == Errc::kUnset));
}

BOOST_AUTO_TEST_CASE(a_lapsed_lease_is_not_renewed) {
  lease(kAlice, 1, seconds(10));
  lease(kAlice, 2, seconds(10));
  clock.advance(seconds(10));  // the timers are late
  BOOST_TEST((store->renew(kAlice, ReadId(1), seconds(10)).error().code() == Errc::kLeaseExpired));
  BOOST_TEST((store->renew(kAlice, ReadId(1), seconds(10)).error().code() == Errc::kLeaseExpired));
  advance(seconds(0));
  BOOST_TEST((store->renew(kAlice, ReadId(2), seconds(10)).error().code() == Errc::kLeaseExpired));
  BOOST_TEST((confirm(kAlice, 1) == Errc::kLeaseExpired));
  BOOST_TEST((store->renew(kAlice, ReadId(9), seconds(10)).error().code() == Errc::kNotFound));
  BOOST_TEST((store->renew(kBob, ReadId(2), seconds(10)).error().code() == Errc::kNotFound));
}

BOOST_AUTO_TEST_CASE(a_renewal_has_the_querys_default_and_cap) {
  lease(kAlice, 1);
  advance(seconds(60));
  BOOST_TEST((store->renew(kAlice, ReadId(1), Duration::zero()).value() == seconds(120)));
  BOOST_TEST((store->renew(kAlice, ReadId(1), seconds(100'000)).value() == seconds(600)));
}

BOOST_FIXTURE_TEST_CASE(leased_bytes_have_a_quota_too, FewBytes) {
  lease(kAlice, 1);
  lease(kAlice, 2);
  lease(kAlice, 3);
  BOOST_TEST((query_error(kAlice, 4) == Errc::kQuotaExceeded));
  lease(kBob, 1);
  BOOST_TEST((confirm(kAlice, 2) == Errc::kUnset));
  lease(kAlice, 5);
  advance(seconds(600));  // what lapses no longer counts
  lease(kAlice, 6);
  lease(kAlice, 7);
  lease(kAlice, 8);
}

BOOST_AUTO_TEST_CASE(ids_never_repeat) {
  const LeaseId first = lease(kAlice, 1);
  store->release(kAlice, ReadId(1));
  const LeaseId second = lease(kAlice, 2);
  const LeaseId third = lease(kBob, 1);
  BOOST_TEST((first < second && second < third));
}

BOOST_AUTO_TEST_CASE(the_quota_is_per_session) {
  for (std::uint64_t read = 1; read <= 4; ++read) lease(kAlice, read);
  BOOST_TEST((query_error(kAlice, 5) == Errc::kQuotaExceeded));
  lease(kBob, 1);
  BOOST_TEST((confirm(kAlice, 2) == Errc::kUnset));
  lease(kAlice, 5);
  BOOST_TEST((query_error(kAlice, 6) == Errc::kQuotaExceeded));
  BOOST_TEST((query_error(kAlice, 1) == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_CASE(a_release_before_its_query_is_remembered) {
  store->release(kAlice, ReadId(1));
  store->quiesce(kAlice, ReadId(2));
  store->release(kAlice, ReadId(1));
  BOOST_TEST((query_error(kAlice, 1) == Errc::kCancelled));
  BOOST_TEST((query_error(kAlice, 2) == Errc::kCancelled));
  lease(kBob, 1);  // another session's read of the same number is another read
  BOOST_TEST(store->stats().ended_reads == 2U);
}

BOOST_AUTO_TEST_CASE(memory_of_ended_reads_is_bounded_and_expires) {
  for (std::uint64_t read = 0; read < 100; ++read) {
    store->release(kAlice, ReadId(read));
    BOOST_REQUIRE_LE(store->stats().ended_reads, 6U);
  }
  BOOST_TEST((query_error(kAlice, 99) == Errc::kCancelled));
  BOOST_TEST((query_error(kAlice, 94) == Errc::kCancelled));
  lease(kAlice, 93);  // forgotten
  advance(seconds(121));
  lease(kAlice, 99);
}

BOOST_AUTO_TEST_CASE(idle_sessions_leave_nothing) {
  for (std::uint64_t session = 10; session < 3000; ++session) {
    store->release(SessionId(session), ReadId(1));
    advance(seconds(1));
    BOOST_REQUIRE_LE(store->stats().ended_reads, 400U);
  }
}

BOOST_AUTO_TEST_CASE(quiesced_reads_can_still_be_confirmed_while_their_lease_holds) {
  lease(kAlice, 1);
  store->quiesce(kAlice, ReadId(1));
  BOOST_TEST((confirm(kAlice, 1) == Errc::kUnset));
}

BOOST_AUTO_TEST_CASE(dropping_a_session_drops_all_of_it_and_nothing_else) {
  lease(kAlice, 1);
  lease(kAlice, 2);
  lease(kBob, 1);
  store->release(kAlice, ReadId(9));
  store->drop_session(kAlice);
  store->drop_session(kAlice);
  BOOST_TEST(store->stats().leases == 1U);
  BOOST_TEST(store->stats().ended_reads == 0U);
  BOOST_TEST((confirm(kBob, 1) == Errc::kUnset));
  advance(seconds(1000));
  BOOST_TEST(store->stats().lapsed_leases == 0U);
}

BOOST_AUTO_TEST_CASE(a_timer_that_is_due_when_the_store_goes_finds_nothing) {
  lease(kAlice, 1, seconds(1));
  clock.advance(seconds(2));
  store.reset();
  advance(seconds(1));
  TimePoint due;
  BOOST_TEST(!clock.next_due(due));
}

BOOST_AUTO_TEST_CASE(a_timer_that_is_due_when_its_read_ends_touches_no_other) {
  lease(kAlice, 1, seconds(1));
  clock.advance(seconds(1));
  store->drop_session(kAlice);
  lease(kAlice, 1, seconds(1));  // the same names, another lease
  advance(Duration(1));
  BOOST_TEST(store->stats().leases == 1U);
  BOOST_TEST((confirm(kAlice, 1) == Errc::kUnset));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
