// Both sides of a session over the real store.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "test/rpc/session_support.h"

namespace corail::test {
namespace {

using std::chrono::seconds;

template <typename T>
bool is_error(const Result<T>& result, Errc code) {
  return !result.ok() && result.error().code() == code;
}

BOOST_AUTO_TEST_SUITE(sessions)

BOOST_AUTO_TEST_CASE(hello_tells_who_is_there) {
  HolderWorld holder;
  SessionClient& client = holder.connect();
  BOOST_TEST(client.holder().name == "holder");
  BOOST_TEST((client.holder().boot == kBoot && client.holder().node == NodeId(1)));
  BOOST_TEST(holder.server.sessions() == 1U);
}

BOOST_AUTO_TEST_CASE(rails_are_opened_once_and_dropped_with_the_session) {
  HolderWorld holder;
  SessionClient& client = holder.connect();
  BOOST_TEST(client.regions()->regions().empty());
  holder.rails.refuse = true;
  const auto refused =
      holder.world.run(client.open_rails({"tcp:127.0.0.2"}, holder.in(seconds(5))));
  BOOST_TEST(is_error(refused, Errc::kQuotaExceeded));
  holder.rails.refuse = false;
  const auto opened = holder.world.run(client.open_rails({"tcp:127.0.0.2"}, holder.in(seconds(5))));
  BOOST_REQUIRE(opened.ok());
  BOOST_REQUIRE(opened->size() == 2U);
  BOOST_TEST(((*opened)[1].token[0] == 1));
  BOOST_TEST((client.regions()->generation() == holder.registry.snapshot()->generation()));
  BOOST_TEST(client.regions()->regions().size() == 1U);
  const auto again = holder.world.run(client.open_rails({"tcp:127.0.0.2"}, holder.in(seconds(5))));
  BOOST_TEST(is_error(again, Errc::kInvalidArgument));
  holder.world.run(close(&client));
  holder.world.run_for(seconds(1));
  BOOST_TEST((holder.rails.dropped == holder.rails.admitted));
  BOOST_TEST(holder.server.sessions() == 0U);
}

BOOST_AUTO_TEST_CASE(a_query_is_leased_confirmed_and_released) {
  HolderWorld holder;
  const BlockKeys keys = keys_of(10);
  holder.save(keys);
  SessionClient& client = holder.connect();
  const auto answer = holder.query(client, 1, keys);
  BOOST_REQUIRE(answer.ok());
  BOOST_TEST(answer->blocks.block_count == 10U);
  BOOST_TEST((answer->blocks.ttl == seconds(30)));
  BOOST_TEST(answer->blocks.layout.get() == holder.layout.get());
  BOOST_TEST(validate(answer->blocks.runs, *holder.layout, 10, RunLimits{}).ok());
  BOOST_TEST(answer->answer_bytes > answer->run_table_bytes + 80);
  // No table was fetched before, so the query has brought it.
  BOOST_REQUIRE(answer->regions != nullptr);
  BOOST_TEST((answer->regions->generation() == answer->blocks.generation));
  BOOST_TEST(answer->regions->find(answer->blocks.runs.base[0], 512) >= 0);
  BOOST_TEST(holder.store.stats().leases == 1U);
  BOOST_TEST(holder.confirm(client, 1).ok());
  BOOST_TEST(holder.store.stats().leases == 0U);
  BOOST_TEST(!holder.confirm(client, 1).ok());
  BOOST_TEST(holder.release(client, 1).ok());
}

BOOST_AUTO_TEST_CASE(the_checksums_are_those_of_the_store) {
  HolderWorld holder;
  const BlockKeys keys = keys_of(3);
  holder.save(keys);
  SessionClient& client = holder.connect();
  const auto answer = holder.query(client, 1, keys);
  BOOST_REQUIRE(answer.ok());
  for (std::uint32_t block = 0; block < 3; ++block) {
    std::uint64_t sum = 0;
    for (std::uint32_t lane = 0; lane < 3; ++lane) {
      const std::vector<std::byte> bytes(holder.layout->lane_bytes()[lane],
                                         static_cast<std::byte>(block + lane));
      sum += lane_term(xxh3_64(bytes), lane);
    }
    const auto identity = block_identity(keys.name_space, keys.hashes[block], holder.layout->id());
    BOOST_TEST(answer->blocks.checksums[block] == block_checksum(sum, identity).value());
  }
}

BOOST_AUTO_TEST_CASE(short_and_empty_prefixes_are_successes) {
  HolderWorld holder;
  BlockKeys keys = keys_of(10);
  BlockKeys head = keys;
  head.hashes.resize(4);
  holder.save(head);
  SessionClient& client = holder.connect();
  const auto some = holder.query(client, 1, keys);
  BOOST_REQUIRE(some.ok());
  BOOST_TEST(some->blocks.block_count == 4U);
  std::reverse(keys.hashes.begin(), keys.hashes.end());
  const auto none = holder.query(client, 2, keys);
  BOOST_REQUIRE(none.ok());
  BOOST_TEST(none->blocks.block_count == 0U);
  BOOST_TEST(holder.store.stats().leases == 1U);
}

BOOST_AUTO_TEST_CASE(bad_questions_do_not_leave_the_requester) {
  HolderWorld holder;
  SessionClient& client = holder.connect();
  BOOST_TEST(is_error(holder.query(client, 0, keys_of(1)), Errc::kInvalidArgument));
  BOOST_TEST(is_error(holder.query(client, 1, keys_of(0)), Errc::kInvalidArgument));
  BOOST_TEST(is_error(holder.query(client, 1, keys_of(1, 65)), Errc::kInvalidArgument));
  BOOST_TEST(is_error(holder.query(client, 1, keys_of(65'537, 8)), Errc::kTooLarge));
  BlockKeys twice = keys_of(3);
  twice.hashes.push_back(twice.hashes[1]);
  const auto refused = holder.query(client, 1, twice);
  BOOST_REQUIRE(is_error(refused, Errc::kInvalidArgument));
  BOOST_TEST(refused.error().detail().find("hashes 1 and 3") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(another_layout_is_refused_and_leaves_no_lease) {
  HolderWorld holder;
  const BlockKeys keys = keys_of(2);
  holder.save(keys);
  SessionClient& client = holder.connect();
  holder.layout = layout_of({Slot{512, 512, 0}, Slot{128, 0, 0}});
  const auto answer = holder.query(client, 1, keys);
  BOOST_REQUIRE(is_error(answer, Errc::kLayoutMismatch));
  BOOST_TEST(answer.error().detail().find("same model") != std::string::npos);
  BOOST_TEST(holder.store.stats().leases == 0U);
}

BOOST_AUTO_TEST_CASE(a_release_that_overtakes_its_query_wins) {
  HolderWorld holder;
  const BlockKeys keys = keys_of(2);
  holder.save(keys);
  SessionClient& client = holder.connect();
  BOOST_TEST(holder.release(client, 1).ok());
  BOOST_TEST(is_error(holder.query(client, 1, keys), Errc::kCancelled));
  BOOST_TEST(holder.store.stats().leases == 0U);
  BOOST_TEST(holder.query(client, 2, keys).ok());
}

BOOST_AUTO_TEST_CASE(a_quiesced_read_is_admitted_nothing_more) {
  HolderWorld holder;
  const BlockKeys keys = keys_of(2);
  holder.save(keys);
  SessionClient& client = holder.connect();
  const auto answer = holder.query(client, 1, keys);
  BOOST_REQUIRE(answer.ok());
  const Region& region = answer->regions->regions()[0];
  const std::uint64_t offset = answer->blocks.runs.base[0] - region.base;
  const SessionId session(1);
  BOOST_TEST(holder.store.admit(session, ReadId(1), region.id, offset, 512).ok());
  BOOST_TEST(holder.world.run(client.quiesce(ReadId(1), holder.in(seconds(5)))).ok());
  BOOST_TEST(!holder.store.admit(session, ReadId(1), region.id, offset, 512).ok());
  BOOST_TEST(holder.store.stats().leases == 1U);
}

BOOST_AUTO_TEST_CASE(a_lapsed_lease_is_not_confirmed) {
  HolderWorld holder;
  const BlockKeys keys = keys_of(2);
  holder.save(keys);
  SessionClient& client = holder.connect();
  BOOST_REQUIRE(holder.query(client, 1, keys).ok());
  holder.world.run_for(seconds(31));
  const auto confirmed = holder.confirm(client, 1);
  BOOST_REQUIRE(is_error(confirmed, Errc::kLeaseExpired));
  BOOST_TEST((confirmed.error().stage() != Stage::kNone));
}

BOOST_AUTO_TEST_CASE(leases_go_with_the_session_however_it_ends) {
  for (const bool cut : {false, true}) {
    HolderWorld holder;
    const BlockKeys keys = keys_of(2);
    holder.save(keys);
    SessionClient& client = holder.connect();
    BOOST_REQUIRE(holder.query(client, 1, keys).ok());
    BOOST_REQUIRE(holder.query(client, 2, keys).ok());
    BOOST_TEST(holder.store.stats().leases == 2U);
    if (cut) {
      holder.pairs[0].cut();
    } else {
      holder.world.run(close(&client));
    }
    holder.world.run_for(seconds(1));
    BOOST_TEST(holder.store.stats().leases == 0U);
    BOOST_TEST(holder.server.sessions() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(sessions_do_not_see_each_others_reads) {
  HolderWorld holder;
  const BlockKeys keys = keys_of(2);
  holder.save(keys);
  SessionClient& alice = holder.connect();
  SessionClient& bob = holder.connect();
  BOOST_REQUIRE(holder.query(alice, 1, keys).ok());
  BOOST_TEST(!holder.confirm(bob, 1).ok());
  BOOST_TEST(holder.release(bob, 1).ok());
  BOOST_TEST(holder.confirm(alice, 1).ok());
}

BOOST_AUTO_TEST_CASE(an_old_region_table_is_fetched_again) {
  HolderWorld holder;
  const BlockKeys keys = keys_of(2);
  holder.save(keys);
  SessionClient& client = holder.connect();
  BOOST_REQUIRE(holder.world.run(client.open_rails({"tcp:127.0.0.2"}, holder.in(seconds(5)))).ok());
  const auto added = holder.registry.add(0x1000, 0x1000, 1, {});
  BOOST_REQUIRE(added.ok());
  const auto newest = holder.registry.snapshot()->generation();
  BOOST_TEST((client.regions()->generation() != newest));
  const auto answer = holder.query(client, 1, keys);
  BOOST_REQUIRE(answer.ok());
  BOOST_TEST((answer->regions->generation() == newest && client.regions()->generation() == newest));
  // A notification brings it without a query.
  BOOST_TEST(holder.registry.remove(*added));
  holder.server.regions_changed(holder.registry.snapshot()->generation());
  holder.world.settle();
  BOOST_TEST((client.regions()->generation() == holder.registry.snapshot()->generation()));
  BOOST_TEST(client.regions()->regions().size() == 1U);
}

BOOST_AUTO_TEST_CASE(closing_the_holder_ends_its_sessions) {
  HolderWorld holder;
  SessionClient& client = holder.connect();
  const auto ended = holder.world.start(client.wait_ended());
  BOOST_TEST(holder.world.run(close(&holder.server)));
  holder.world.settle();
  BOOST_REQUIRE(ended->has_value());
  BOOST_TEST(((*ended)->code() == Errc::kConnectionLost));
  BOOST_TEST((*ended)->detail() == "the node is closing");
  BOOST_TEST(is_error(holder.query(client, 1, keys_of(1)), Errc::kConnectionLost));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
