// Which end of a rail each number of a path comes from.
#include <boost/test/unit_test.hpp>

#include "engine/rail/verbs/verbs_path.h"

namespace corail {
namespace {

Greeting own_end() {
  Greeting greeting;
  greeting.mtu_bytes = 4096;
  greeting.lid = 11;
  greeting.gid = {1, 1};
  greeting.reads_sent = 12;
  greeting.reads_answered = 3;
  greeting.pairs = {{101, 1001}, {102, 1002}};
  return greeting;
}

Greeting peers_end() {
  Greeting greeting;
  greeting.mtu_bytes = 1024;
  greeting.lid = 22;
  greeting.gid = {2, 2};
  greeting.reads_sent = 7;
  greeting.reads_answered = 9;
  greeting.pairs = {{201, 2001}, {202, 2002}};
  return greeting;
}

BOOST_AUTO_TEST_SUITE(path_between_ends)

BOOST_AUTO_TEST_CASE(each_end_has_the_others_address_and_its_own_first_packet) {
  const auto path = path_between(own_end(), 0, peers_end(), 1, 5, 2);
  BOOST_TEST_REQUIRE(path.ok());
  BOOST_TEST(path->port == 2);
  BOOST_TEST((path->link == LinkLayer::kEthernet));
  BOOST_TEST(path->mtu_bytes == 1024U);
  BOOST_TEST(path->gid_index == 5U);
  BOOST_TEST((path->peer_gid == peers_end().gid));
  BOOST_TEST(path->peer_lid == 22);
  BOOST_TEST(path->peer_number == 202U);
  BOOST_TEST(path->peer_psn == 2002U);
  BOOST_TEST(path->own_psn == 1001U);
  // What one sends the other answers.
  BOOST_TEST(path->reads_sent == 9);
  BOOST_TEST(path->reads_answered == 3);
}

BOOST_AUTO_TEST_CASE(a_pair_that_nobody_named_has_no_path) {
  BOOST_TEST(!path_between(own_end(), 0, peers_end(), 2, 5, 2).ok());
  BOOST_TEST(!path_between(own_end(), 2, peers_end(), 0, 5, 2).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
