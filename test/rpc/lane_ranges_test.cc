// What the two sides of a session say about parts of the lanes of a lease.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <numeric>

#include "test/rpc/session_support.h"

namespace corail::test {
namespace {

using std::chrono::seconds;

/// A holder with ten blocks, leased as read 1.
struct Leased {
  Leased() {
    holder.save(keys);
    BOOST_REQUIRE(holder.query(client, 1, keys).ok());
  }

  Result<LaneSums> sums(std::uint64_t read, LaneRange lanes, std::uint32_t blocks = 10) {
    return holder.world.run(
        client.lane_sums(ReadId(read), lanes, blocks, CallOptions{holder.in(seconds(5)), nullptr}));
  }
  Result<void> confirm(std::uint64_t read) {
    return holder.world.run(client.confirm(ReadId(read), holder.in(seconds(5)), CancelToken()));
  }
  std::uint64_t sum_of(std::uint32_t block, LaneRange lanes) const {
    std::uint64_t sum = 0;
    for (std::uint32_t lane = lanes.begin; lane < lanes.end; ++lane) {
      const std::vector<std::byte> bytes(holder.layout->lane_bytes()[lane],
                                         static_cast<std::byte>(block + lane));
      sum += lane_term(xxh3_64(bytes), lane);
    }
    return sum;
  }

  HolderWorld holder;
  BlockKeys keys = keys_of(10);
  SessionClient& client = holder.connect();
};

Errc code_of(const auto& result) { return result.ok() ? Errc::kUnset : result.error().code(); }

BOOST_FIXTURE_TEST_SUITE(lane_ranges, Leased)

BOOST_AUTO_TEST_CASE(sums_are_of_the_lanes_asked_for) {
  BOOST_TEST(client.knows_lane_ranges());
  for (const LaneRange lanes : {LaneRange{0, 1}, LaneRange{1, 3}, LaneRange{0, 3}}) {
    const auto told = sums(1, lanes);
    BOOST_REQUIRE(told.ok());
    for (std::uint32_t block = 0; block < 10; ++block) {
      BOOST_TEST(told->sums[block] == sum_of(block, lanes));
      BOOST_TEST(told->sums[block] + told->rests[block] == sum_of(block, LaneRange{0, 3}));
    }
  }
  BOOST_TEST((code_of(sums(1, LaneRange{0, 1}, 9)) == Errc::kProtocol));
}

BOOST_AUTO_TEST_CASE(what_is_not_leased_has_no_sums) {
  BOOST_TEST((code_of(sums(1, LaneRange{2, 4})) == Errc::kInvalidArgument));
  BOOST_TEST((code_of(sums(1, LaneRange{3, 4})) == Errc::kInvalidArgument));
  BOOST_TEST((code_of(sums(1, LaneRange{2, 2})) == Errc::kProtocol));
  BOOST_TEST((code_of(sums(2, LaneRange{0, 1})) == Errc::kRefused));
  SessionClient& stranger = holder.connect();
  const auto none = holder.world.run(stranger.lane_sums(
      ReadId(1), LaneRange{0, 1}, 10, CallOptions{holder.in(seconds(5)), nullptr}));
  BOOST_TEST((code_of(none) == Errc::kRefused));
}

BOOST_AUTO_TEST_CASE(a_confirmation_may_leave_the_lease) {
  BOOST_TEST(confirm(1).ok());
  BOOST_TEST(confirm(1).ok());
  BOOST_TEST(holder.store.stats().leases == 1U);
  BOOST_TEST((code_of(confirm(2)) == Errc::kNotFound));
  holder.world.run_for(seconds(31));
  BOOST_TEST((code_of(confirm(1)) == Errc::kLeaseExpired));
  BOOST_TEST((code_of(sums(1, LaneRange{0, 1})) == Errc::kLeaseExpired));
  BOOST_TEST(holder.store.stats().leases == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
