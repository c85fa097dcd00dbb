// How two strangers find out that they do not speak the same protocol.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "test/rpc/connection_support.h"

namespace corail::test {
namespace {

using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(strangers)

BOOST_AUTO_TEST_CASE(an_http_client_is_told_in_http) {
  OneSide side;
  const auto opened = side.world.start(side.right->open_as_server());
  BOOST_TEST(side.world.run(write(side.left.get(), bytes_of("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))));
  const Bytes reply = side.world.run(read_to_end(side.left.get()));
  BOOST_TEST(text_of(reply).starts_with("HTTP/1.1 400 Bad Request\r\n"));
  BOOST_TEST(text_of(reply).find("speaks corail's own protocol") != std::string_view::npos);
  BOOST_REQUIRE((opened->has_value() && !(*opened)->ok()));
  BOOST_TEST((*opened)->error().to_string() ==
             "incompatible peer (stage connect, peer memory:left): the peer does not speak "
             "corail's protocol: it sent \"GET / HTTP/1.1\"; check that the address is a corail "
             "node's control address");
}

BOOST_AUTO_TEST_CASE(an_http_server_is_recognised) {
  OneSide side;
  const auto opened = side.world.start(side.right->open_as_client(side.world.now() + seconds(5)));
  BOOST_TEST(side.world.run(write(side.left.get(), bytes_of("HTTP/1.1 400 Bad Request\r\n\r\n"))));
  side.world.settle();
  BOOST_REQUIRE((opened->has_value() && !(*opened)->ok()));
  BOOST_TEST(((*opened)->error().code() == Errc::kIncompatible));
  BOOST_TEST((*opened)->error().detail().find("\"HTTP/1.1 400 Bad Request\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(one_foreign_byte_is_enough) {
  OneSide side;
  const auto opened = side.world.start(side.right->open_as_server());
  BOOST_TEST(side.world.run(write(side.left.get(), bytes_of("\x16"))));
  side.world.settle();
  BOOST_REQUIRE((opened->has_value() && !(*opened)->ok()));
  BOOST_TEST(((*opened)->error().code() == Errc::kIncompatible));
}

BOOST_AUTO_TEST_CASE(another_framing_version_is_told_to_both) {
  OneSide side;
  const auto opened = side.world.start(side.right->open_as_server());
  BOOST_TEST(side.world.run(write(side.left.get(), preface_bytes(7))));
  const Bytes reply = side.world.run(read_to_end(side.left.get()));
  BOOST_TEST((reply == preface_bytes(kFramingVersion)));
  BOOST_REQUIRE((opened->has_value() && !(*opened)->ok()));
  BOOST_TEST((*opened)->error().detail().find("version 7") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(silence_ends_at_the_deadline) {
  OneSide client;
  const TimePoint begin = client.world.now();
  const auto opened = client.world.run(client.right->open_as_client(begin + seconds(3)));
  BOOST_TEST((!opened.ok() && opened.error().code() == Errc::kDeadline));
  BOOST_TEST((client.world.now() == begin + seconds(3)));

  OneSide server;
  server.left->close();
  const auto accepted = server.world.run(server.right->open_as_server());
  BOOST_TEST((!accepted.ok() && accepted.error().code() == Errc::kConnectionLost));

  OneSide slow;
  const auto waiting = slow.world.start(slow.right->open_as_server());
  slow.world.run(write(slow.left.get(), bytes_of("\x89"
                                                 "corail\n")));
  slow.world.run_for(seconds(10));
  BOOST_REQUIRE(waiting->has_value());
  BOOST_TEST(((*waiting)->error().code() == Errc::kDeadline));
}

BOOST_AUTO_TEST_CASE(mutated_prefaces_never_open) {
  SeededRandom random(17);
  const Bytes valid = preface_bytes(kFramingVersion);
  for (int round = 0; round < 500; ++round) {
    OneSide side;
    const Bytes bytes = mutated(valid, random);
    const bool same = bytes.size() >= kPrefaceBytes &&
                      std::equal(valid.begin(), valid.begin() + 12, bytes.begin());
    const auto opened = side.world.start(side.right->open_as_server());
    side.world.run(write(side.left.get(), bytes));
    side.world.run_for(seconds(11));
    BOOST_REQUIRE(opened->has_value());
    BOOST_REQUIRE((*opened)->ok() == same);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
