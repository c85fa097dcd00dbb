#include "rpc/lease_keeper.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <optional>

#include "test/rpc/session_support.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kTtl = seconds(8);
constexpr Duration kMargin = seconds(6);

Task<bool> stop(LeaseKeeper* keeper) {
  co_await keeper->stop();
  co_return true;
}

/// A lease of eight seconds, and somebody who keeps it.
struct Kept {
  Kept() {
    holder.save(keys_of(3));
    client = &holder.connect();
    TransferQuery query = holder.query_of(1, keys_of(3));
    query.ttl = kTtl;
    const TimePoint sent = holder.world.now();
    const auto answer = holder.world.run(
        client->query(std::move(query), CallOptions{holder.in(seconds(5)), nullptr}));
    BOOST_REQUIRE(answer.ok());
    ends = sent + answer->blocks.ttl;
    LeaseKeeper::Lease lease;
    lease.read = ReadId(1);
    lease.ends = ends - kMargin;
    lease.ttl = kTtl;
    lease.margin = kMargin;
    keeper.emplace(holder.world.executor(), holder.world.clock(), *client, lease,
                   [this](TimePoint later) {
                     BOOST_TEST((later > ends - kMargin));
                     ends = later + kMargin;
                     ++renewals;
                   });
    keeper->start();
  }
  ~Kept() {
    holder.world.run(stop(&*keeper));
    keeper.reset();
  }

  HolderWorld holder;
  SessionClient* client = nullptr;
  std::optional<LeaseKeeper> keeper;
  TimePoint ends;
  int renewals = 0;
};

BOOST_FIXTURE_TEST_SUITE(lease_keeper, Kept)

BOOST_AUTO_TEST_CASE(a_lease_is_renewed_at_half_of_its_use_for_as_long_as_it_is_kept) {
  holder.world.run_for((kTtl - kMargin) / 2 - milliseconds(1));
  BOOST_TEST(renewals == 0);
  holder.world.run_for(seconds(60));
  BOOST_TEST(renewals >= 58);
  BOOST_TEST(renewals <= 62);
  BOOST_TEST(holder.store.stats().leases == 1U);
  BOOST_TEST((ends > holder.world.now()));
  // The requester never believes in more than the holder grants.
  holder.world.run(stop(&*keeper));
  holder.world.run_until(ends);
  BOOST_TEST(holder.store.stats().leases == 0U);
}

BOOST_AUTO_TEST_CASE(nobody_renews_any_more_once_stopped) {
  holder.world.run(stop(&*keeper));
  holder.world.run_for(2 * kTtl);
  BOOST_TEST(renewals == 0);
  BOOST_TEST(holder.store.stats().lapsed_leases == 1U);
}

BOOST_AUTO_TEST_CASE(a_holder_that_says_no_is_not_asked_again) {
  holder.store.release(SessionId(1), ReadId(1));
  holder.world.run_for(4 * kTtl);
  BOOST_TEST(renewals == 0);
}

BOOST_AUTO_TEST_CASE(an_unanswered_renewal_extends_nothing) {
  const TimePoint before = ends;
  holder.pairs.front().cut();
  holder.world.run_for(4 * kTtl);
  BOOST_TEST(renewals == 0);
  BOOST_TEST((ends == before));
}

BOOST_AUTO_TEST_CASE(stopping_ends_a_renewal_that_is_under_way) {
  holder.world.run_for((kTtl - kMargin) / 2 - milliseconds(1));
  holder.world.clock().advance(milliseconds(1));
  // One step at a time into the renewal, then stop.
  for (int steps = 0; steps < 3; ++steps) BOOST_REQUIRE(holder.world.step());
  holder.world.run(stop(&*keeper));
  BOOST_TEST(renewals <= 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
