#include "engine/rail/verbs/greeting.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "engine/base/random.h"
#include "engine/rail/greeting_limit.h"

namespace corail {
namespace {

Greeting sample() {
  Greeting greeting;
  greeting.rail = 0x1122334455667788;
  greeting.generation = 77;
  greeting.first_channel = 2;
  greeting.mtu_bytes = 4096;
  greeting.lid = 0xABCD;
  greeting.gid = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  greeting.reads_sent = 16;
  greeting.reads_answered = 8;
  greeting.pairs = {{0xFFFFFF, 0}, {2, 0xFFFFFF}};
  return greeting;
}

BOOST_AUTO_TEST_SUITE(greetings)

BOOST_AUTO_TEST_CASE(what_is_said_is_what_is_heard) {
  const auto heard = decode_greeting(encode(sample()));
  BOOST_TEST_REQUIRE(heard.ok());
  BOOST_TEST((*heard == sample()));
  Greeting largest = sample();
  largest.first_channel = 0;
  largest.pairs.resize(kMaxGreetedPairs, GreetedPair{2, 0});
  BOOST_TEST(encode(largest).size() <= kMaxGreetingBytes);
  BOOST_TEST(decode_greeting(encode(largest)).ok());
}

BOOST_AUTO_TEST_CASE(nothing_else_is_a_greeting) {
  const std::string bytes = encode(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    BOOST_TEST(!decode_greeting(bytes.substr(0, length)).ok(), length);
  }
  BOOST_TEST(!decode_greeting(bytes + "x").ok());
  Greeting wrong = sample();
  wrong.pairs.clear();
  BOOST_TEST(!decode_greeting(encode(wrong)).ok());
  wrong = sample();
  wrong.pairs.resize(kMaxGreetedPairs, GreetedPair{2, 0});
  BOOST_TEST(!decode_greeting(encode(wrong)).ok());
  wrong = sample();
  wrong.pairs[0].number = 1U << 24;
  BOOST_TEST(!decode_greeting(encode(wrong)).ok());
  wrong = sample();
  wrong.pairs[1].psn = 1U << 24;
  BOOST_TEST(!decode_greeting(encode(wrong)).ok());
  wrong = sample();
  wrong.link = static_cast<LinkLayer>(3);
  BOOST_TEST(!decode_greeting(encode(wrong)).ok());
}

BOOST_AUTO_TEST_CASE(addresses_that_no_port_has_are_refused) {
  for (const std::uint32_t number : {0U, 1U}) {
    Greeting wrong = sample();
    wrong.pairs[1].number = number;
    BOOST_TEST(!decode_greeting(encode(wrong)).ok(), number);
  }
  const Gid multicast = {0xFF, 0x0E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const Gid ipv4_multicast = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 224, 0, 0, 1};
  const Gid ipv4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 223, 0, 0, 1};
  Greeting ethernet = sample();
  for (const Gid& gid : {Gid{}, multicast, ipv4_multicast}) {
    ethernet.gid = gid;
    BOOST_TEST(!decode_greeting(encode(ethernet)).ok());
  }
  ethernet.gid = ipv4;
  BOOST_TEST(decode_greeting(encode(ethernet)).ok());
  Greeting infiniband = sample();
  infiniband.link = LinkLayer::kInfiniBand;
  for (const int lid : {0, 0xC000, 0xFFFF}) {
    infiniband.lid = static_cast<std::uint16_t>(lid);
    const auto heard = decode_greeting(encode(infiniband));
    BOOST_TEST_REQUIRE(!heard.ok(), lid);
    BOOST_TEST((heard.error().code() == Errc::kProtocol));
  }
  infiniband.lid = 0xBFFF;
  BOOST_TEST(decode_greeting(encode(infiniband)).ok());
}

BOOST_AUTO_TEST_CASE(another_version_is_called_that) {
  std::string bytes = encode(sample());
  bytes[0] = 2;
  const auto other = decode_greeting(bytes);
  BOOST_TEST_REQUIRE(!other.ok());
  BOOST_TEST((other.error().code() == Errc::kIncompatible));
}

BOOST_AUTO_TEST_CASE(noise_is_refused_or_read_within_bounds) {
  SeededRandom random(4);
  const std::string bytes = encode(sample());
  for (int round = 0; round < 10'000; ++round) {
    std::string noisy = bytes;
    for (int change = 0; change < 3; ++change) {
      noisy[random.below(noisy.size())] = static_cast<char>(random.below(256));
    }
    const auto heard = decode_greeting(noisy);
    if (!heard.ok()) continue;
    BOOST_TEST(heard->first_channel + heard->pairs.size() <= kMaxGreetedPairs);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
