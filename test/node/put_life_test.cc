// Puts while nodes come and go: what is left of them, and over which rails they are pulled.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/object/object_descriptor.h"
#include "test/node/put_nodes.h"
#include "test/node/support.h"
#include "test/support/resource_census.h"

namespace corail::test {
namespace {

PutOptions of_granules(std::uint64_t size) {
  PutOptions options;
  options.size = size;
  options.stripe_size = kGranuleBytes;
  return options;
}

void put_and_check(PutNodes& nodes, Peer& peer, std::uint64_t seed) {
  const std::vector<std::byte> bytes = put_content(6 * kGranuleBytes + 9, seed);
  const auto put = nodes.put(peer, "a", bytes, of_granules(0));
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  const auto stored = nodes.stored("a");
  BOOST_REQUIRE_MESSAGE(stored.ok(), describe(stored));
  BOOST_TEST((*stored == bytes));
}

/// Sockets of this process: of connections, and what listens.
std::size_t open_sockets() {
  std::size_t sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(entry.path(), gone).string();
    if (!gone && what.starts_with("socket:")) ++sockets;
  }
  return sockets;
}

BOOST_AUTO_TEST_SUITE(life_of_puts)

BOOST_AUTO_TEST_CASE(nothing_is_left_when_the_peer_is_closed) {
  PutNodes nodes;
  const auto round = [&nodes](std::uint64_t seed) {
    const auto peer = nodes.connect();
    put_and_check(nodes, *peer, seed);
    nodes.close(nodes.writer(), *peer);
  };
  round(30);
  // Two doors each and the home's control address: the home has closed its end as well.
  BOOST_REQUIRE(comes_true([] { return open_sockets() == 5; }));
  const ResourceCensus census = nodes.census();
  round(31);
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_AUTO_TEST_CASE(a_put_that_is_open_when_the_peer_is_closed_is_aborted) {
  PutNodes nodes;
  put_and_check(nodes, *nodes.connect(), 32);
  const auto peer = nodes.connect();
  const std::vector<std::byte> bytes = put_content(3 * kGranuleBytes, 33);
  auto put = nodes.begin(*peer, "a", of_granules(bytes.size()));
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  BOOST_REQUIRE(nodes.write(**put, bytes).ok());
  nodes.close(nodes.writer(), *peer);
  BOOST_TEST(nodes.stats().open_puts == 0U);
  BOOST_TEST(!nodes.commit(**put).ok());
  nodes.abort(**put);
  const auto late = nodes.begin(*peer, "a", of_granules(1));
  BOOST_TEST((!late.ok() && late.error().code() == Errc::kConnectionLost));
  BOOST_TEST(nodes.stored("a").ok());
}

BOOST_AUTO_TEST_CASE(a_home_that_goes_fails_the_put) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  auto put = nodes.begin(*peer, "a", of_granules(4 * kGranuleBytes));
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  BOOST_REQUIRE(nodes.write(**put, put_content(2 * kGranuleBytes + 1, 34)).ok());
  nodes.close_home();
  BOOST_TEST(comes_true([&] { return !nodes.write(**put, put_content(1, 35)).ok(); }));
  BOOST_TEST(!nodes.commit(**put).ok());
}

BOOST_AUTO_TEST_CASE(a_writer_that_goes_leaves_nothing) {
  PutNodes nodes;
  const auto peer = nodes.connect();
  put_and_check(nodes, *peer, 36);
  auto put = nodes.begin(*peer, "a", of_granules(4 * kGranuleBytes));
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  BOOST_REQUIRE(nodes.write(**put, put_content(2 * kGranuleBytes + 1, 37)).ok());
  nodes.close_writer();
  BOOST_TEST(comes_true([&] { return nodes.stats().open_puts == 0; }));
  BOOST_TEST(nodes.home().memory().outstanding_bytes() == 0U);
  BOOST_TEST(nodes.stored("a").ok());
  put->reset();
}

BOOST_AUTO_TEST_CASE(a_home_that_is_connected_to_the_writer_pulls_over_the_rails_that_it_has) {
  PutNodes::Shape shape;
  shape.writer_listens = true;
  PutNodes nodes(shape);
  const auto there = nodes.connect();
  const auto back = nodes.connect_back();
  put_and_check(nodes, *there, 38);
  const ResourceCensus census = nodes.census();
  put_and_check(nodes, *there, 39);
  BOOST_TEST(census.lasting_difference() == "");
  // Without them it opens some of its own, once for all puts.
  nodes.close(nodes.home(), *back);
  put_and_check(nodes, *there, 40);
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
