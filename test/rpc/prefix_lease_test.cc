#include "rpc/prefix_lease.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>

#include "engine/memory/slab_pool.h"
#include "engine/rail/rail_set.h"
#include "test/rpc/session_support.h"

namespace corail::test {
namespace {

using std::chrono::seconds;

/// The holder may have begun to count as soon as it heard of the query, and when it answered is
/// only what it says.
BOOST_AUTO_TEST_CASE(a_lease_counts_from_when_its_query_was_sent) {
  HolderWorld holder;
  NodeOptions options;
  options.lease_ttl = seconds(30);
  options.lease_margin = seconds(2);
  SlabPool memory{SlabPoolOptions()};
  const RailSet rails;
  const auto home = holder.world.executor();
  const FetchContext context{home,  holder.world.clock(), holder.connect(), memory, home, options,
                             rails, FetchBudgets()};
  const auto keys = std::make_shared<const BlockKeys>(keys_of(3));
  PrefixLease lease(context, ReadId(1), holder.layout, keys);
  FetchOptions fetch;
  fetch.wait_for_blocks = seconds(20);
  ReadReport report;
  const TimePoint sent = holder.world.now();
  const auto asked = holder.world.start(lease.query(fetch, holder.in(seconds(60)), report));
  holder.world.run_for(seconds(7));
  BOOST_TEST(!asked->has_value());
  holder.save(*keys);
  holder.world.settle();
  BOOST_TEST_REQUIRE(asked->has_value());
  BOOST_TEST_REQUIRE((**asked).ok());
  BOOST_TEST((report.stages.query >= seconds(7)));
  // It was asked for longer by as much as it may take, so that no less is left.
  BOOST_TEST((lease.answer().ttl == options.lease_ttl + fetch.wait_for_blocks));
  BOOST_TEST((lease.usable_until() == sent + lease.answer().ttl - options.lease_margin));
}

}  // namespace
}  // namespace corail::test
