// Queries that wait for blocks which nobody has sealed yet.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "test/rpc/session_support.h"

namespace corail::test {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

using Waited = VirtualWorld::Outcome<Result<TransferAnswer>>;

/// The keys from `first` on.
BlockKeys part_of(const BlockKeys& keys, std::size_t first, std::size_t count) {
  BlockKeys part;
  part.name_space = keys.name_space;
  part.hashes.assign(keys.hashes.begin() + static_cast<std::ptrdiff_t>(first),
                     keys.hashes.begin() + static_cast<std::ptrdiff_t>(first + count));
  return part;
}

struct WaitingWorld {
  Waited start(SessionClient& client, std::uint64_t read, const BlockKeys& wanted, Duration wait,
               CallCancel* cancel, Duration patience) {
    TransferQuery query = holder.query_of(read, wanted);
    query.wait = wait;
    auto outcome = holder.world.start(
        client.query(std::move(query), CallOptions{holder.in(patience), cancel}));
    holder.world.settle();
    return outcome;
  }
  Waited start(SessionClient& client, std::uint64_t read, Duration wait) {
    return start(client, read, keys, wait, nullptr, hours(1));
  }
  StoreStats stats() const { return holder.store.stats(); }
  void check_nothing_is_left() const {
    BOOST_TEST(stats().watches == 0U);
    BOOST_TEST(stats().watched_keys == 0U);
    BOOST_TEST(stats().leases == 0U);
  }

  HolderWorld holder;
  const BlockKeys keys = keys_of(10);
};

bool failed_with(const Waited& outcome, Errc code) {
  return outcome->has_value() && !(**outcome).ok() && (**outcome).error().code() == code;
}

BOOST_FIXTURE_TEST_SUITE(waiting_queries, WaitingWorld)

BOOST_AUTO_TEST_CASE(are_answered_with_the_seal_of_the_last_block) {
  SessionClient& client = holder.connect();
  const auto outcome = start(client, 1, seconds(20));
  holder.world.run_for(seconds(3));
  holder.save(part_of(keys, 0, 6));
  holder.world.run_for(seconds(3));
  BOOST_TEST(!outcome->has_value());
  BOOST_TEST(stats().watches == 1U);
  BOOST_TEST(stats().leases == 0U);
  holder.save(part_of(keys, 6, 4));
  holder.world.settle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST_REQUIRE((**outcome).ok());
  BOOST_TEST((**outcome)->blocks.block_count == 10U);
  // The lease begins with the answer: it is there for as long as it was asked for from now on.
  BOOST_TEST(((**outcome)->blocks.ttl == seconds(30)));
  holder.world.run_for(seconds(29));
  BOOST_TEST(holder.confirm(client, 1).ok());
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(are_answered_at_once_where_everything_is_there) {
  holder.save(keys);
  SessionClient& client = holder.connect();
  const auto outcome = start(client, 1, seconds(20));
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST((**outcome)->blocks.block_count == 10U);
  BOOST_TEST(stats().watches == 0U);
}

BOOST_AUTO_TEST_CASE(are_answered_with_what_there_is_when_their_time_is_over) {
  SessionClient& client = holder.connect();
  holder.save(part_of(keys, 0, 4));
  const auto some = start(client, 1, seconds(20));
  const auto none = start(client, 2, part_of(keys, 7, 3), seconds(20), nullptr, hours(1));
  holder.world.run_for(seconds(19));
  BOOST_TEST(!some->has_value());
  holder.world.run_for(seconds(2));
  BOOST_TEST_REQUIRE(some->has_value());
  BOOST_TEST((**some)->blocks.block_count == 4U);
  BOOST_TEST_REQUIRE(none->has_value());
  BOOST_TEST((**none)->blocks.block_count == 0U);
  BOOST_TEST(stats().watches == 0U);
  BOOST_TEST(stats().leases == 1U);
}

BOOST_AUTO_TEST_CASE(wait_again_for_what_was_evicted_meanwhile) {
  SessionClient& client = holder.connect();
  holder.save(part_of(keys, 0, 9));
  const auto outcome = start(client, 1, seconds(20));
  BOOST_TEST(stats().watched_keys == 1U);
  BOOST_TEST(holder.store.erase(keys.name_space, keys.hashes[3]));
  holder.save(part_of(keys, 9, 1));
  holder.world.settle();
  BOOST_TEST(!outcome->has_value());
  BOOST_TEST(stats().watched_keys == 1U);
  holder.save(part_of(keys, 3, 1));
  holder.world.settle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST((**outcome)->blocks.block_count == 10U);
}

BOOST_AUTO_TEST_CASE(that_are_cancelled_leave_neither_a_wait_nor_a_lease) {
  SessionClient& client = holder.connect();
  CallCancel cancel;
  const auto cancelled = start(client, 1, keys, seconds(20), &cancel, hours(1));
  const auto too_late = start(client, 2, keys, seconds(20), nullptr, seconds(2));
  BOOST_TEST(stats().watches == 2U);
  cancel.fire();
  holder.world.settle();
  BOOST_TEST(failed_with(cancelled, Errc::kCancelled));
  BOOST_TEST(stats().watches == 1U);
  holder.world.run_for(seconds(3));
  BOOST_TEST(failed_with(too_late, Errc::kDeadline));
  check_nothing_is_left();
  holder.save(keys);
  holder.world.run_for(seconds(30));
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(whose_read_was_released_meanwhile_get_no_lease) {
  SessionClient& client = holder.connect();
  const auto outcome = start(client, 1, seconds(20));
  BOOST_TEST(holder.release(client, 1).ok());
  holder.save(keys);
  holder.world.settle();
  BOOST_TEST(failed_with(outcome, Errc::kCancelled));
  check_nothing_is_left();
}

BOOST_AUTO_TEST_CASE(go_with_their_session_however_it_ends) {
  for (int how = 0; how < 3; ++how) {
    WaitingWorld it;
    SessionClient& client = it.holder.connect();
    const auto outcome = it.start(client, 1, seconds(20));
    BOOST_TEST(it.stats().watches == 1U);
    if (how == 0) it.holder.pairs[0].cut();
    if (how == 1) it.holder.world.run(close(&client));
    if (how == 2) it.holder.world.run(close(&it.holder.server));
    it.holder.world.run_for(seconds(2));
    BOOST_TEST(outcome->has_value());
    it.check_nothing_is_left();
    it.holder.save(it.keys);
    it.holder.world.run_for(seconds(1));
    it.check_nothing_is_left();
  }
}

BOOST_AUTO_TEST_CASE(are_bounded_in_number_and_wait_no_longer_than_they_may) {
  SessionClient& client = holder.connect();
  std::vector<Waited> outcomes;
  for (std::uint64_t read = 1; read <= 64; ++read) {
    outcomes.push_back(start(client, read, keys, hours(20), nullptr, hours(21)));
    BOOST_TEST(!outcomes.back()->has_value());
  }
  BOOST_TEST(failed_with(start(client, 65, seconds(20)), Errc::kBusy));
  BOOST_TEST(stats().watches == 64U);
  // Others still get their answers.
  BOOST_TEST(holder.query(client, 66, keys).ok());
  holder.world.run_for(kMaxQueryWait - seconds(1));
  BOOST_TEST(!outcomes.front()->has_value());
  holder.world.run_for(seconds(2));
  for (const auto& outcome : outcomes) {
    BOOST_TEST_REQUIRE(outcome->has_value());
    BOOST_TEST((**outcome)->blocks.block_count == 0U);
  }
  check_nothing_is_left();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
