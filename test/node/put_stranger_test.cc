// What a home does about writers that break the rules, or the connection.
#include "test/node/put_stranger.h"

#include <boost/test/unit_test.hpp>
#include <future>
#include <string>
#include <vector>

#include "engine/object/object_descriptor.h"
#include "test/node/put_nodes.h"
#include "test/node/support.h"

namespace corail::test {
namespace {

Errc code_of(const Result<void>& result) {
  return result.ok() ? Errc::kUnset : result.error().code();
}

struct StrangeWorld {
  StrangeWorld() {
    const auto peer = nodes.connect();
    BOOST_REQUIRE(nodes.put(*peer, "a", old).ok());
  }
  bool old_is_there() {
    const auto stored = nodes.stored("a");
    return stored.ok() && *stored == old;
  }
  bool home_is_clean() {
    return comes_true([this] {
      return nodes.stats().open_puts == 0 && nodes.home().memory().outstanding_bytes() == 0;
    });
  }

  PutNodes nodes;
  const std::vector<std::byte> old = put_content(3000, 20);
  const std::vector<std::byte> bytes = put_content(kGranuleBytes, 21);
  PutStranger stranger{nodes.home().listen_address()};
};

BOOST_AUTO_TEST_SUITE(strange_writers)

BOOST_AUTO_TEST_CASE(one_that_keeps_the_rules_is_served) {
  StrangeWorld world;
  const auto put = world.stranger.begin("b", 2 * kGranuleBytes);
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  for (const std::uint32_t stripe : {1, 0}) {
    const auto sent = world.stranger.put(world.stranger.offer(*put, stripe, world.bytes));
    BOOST_REQUIRE_MESSAGE(sent.ok(), describe(sent));
  }
  const auto committed = world.stranger.commit(*put, "b");
  BOOST_REQUIRE_MESSAGE(committed.ok(), describe(committed));
  BOOST_TEST(world.nodes.stored("b").ok());
}

BOOST_AUTO_TEST_CASE(a_wrong_checksum_is_refused_and_nothing_of_the_stripe_is_kept) {
  StrangeWorld world;
  const auto put = world.stranger.begin("a", kGranuleBytes);
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  PutStripeRequest wrong = world.stranger.offer(*put, 0, world.bytes);
  wrong.checksum = Checksum64(wrong.checksum.value() ^ 1);
  // What checksums and counts say is everybody's own to find out, so the answer is a no in words.
  const auto refused = world.stranger.put(wrong);
  BOOST_REQUIRE((code_of(refused) == Errc::kRefused));
  BOOST_TEST(refused.error().detail().find("checksum") != std::string::npos, describe(refused));
  const auto early = world.stranger.commit(*put, "a");
  BOOST_TEST((!early.ok() && early.error().code() == Errc::kRefused));
  BOOST_TEST(world.old_is_there());
  // The stripe may come once more, as it should have.
  BOOST_TEST(
      (code_of(world.stranger.put(world.stranger.offer(*put, 0, world.bytes))) == Errc::kUnset));
  BOOST_TEST(world.stranger.commit(*put, "a").ok());
}

BOOST_AUTO_TEST_CASE(what_is_asked_for_is_checked) {
  StrangeWorld world;
  const auto put = world.stranger.begin("a", kGranuleBytes + 1);
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  PutStripeRequest wrong = world.stranger.offer(*put, 0, world.bytes);
  wrong.put = ObjectGeneration(put->value() + 1000);
  BOOST_TEST((code_of(world.stranger.put(wrong)) == Errc::kNotFound));
  wrong = world.stranger.offer(*put, 2, world.bytes);
  BOOST_TEST((code_of(world.stranger.put(wrong)) == Errc::kInvalidArgument));
  wrong = world.stranger.offer(*put, 0, world.bytes);
  wrong.address += kGiB;
  BOOST_TEST((code_of(world.stranger.put(wrong)) == Errc::kBadRunTable));
  wrong.address = ~std::uint64_t{0} - 10;
  BOOST_TEST((code_of(world.stranger.put(wrong)) == Errc::kBadRunTable));
  // A table that does not exist.
  wrong = world.stranger.offer(*put, 0, world.bytes);
  wrong.regions = TableGeneration(wrong.regions.value() + 100);
  BOOST_TEST((code_of(world.stranger.put(wrong)) == Errc::kGenerationChanged));
  // An id under which nothing is offered.
  wrong = world.stranger.offer(*put, 0, world.bytes);
  wrong.read = ReadId(wrong.read.value() ^ 1);
  BOOST_TEST((code_of(world.stranger.put(wrong)) == Errc::kLeaseExpired));
  // A stripe twice.
  BOOST_TEST(
      (code_of(world.stranger.put(world.stranger.offer(*put, 0, world.bytes))) == Errc::kUnset));
  BOOST_TEST((code_of(world.stranger.put(world.stranger.offer(*put, 0, world.bytes))) ==
              Errc::kInvalidArgument));
  // Somebody else's put.
  PutStranger other(world.nodes.home().listen_address());
  BOOST_TEST((code_of(other.abort(*put)) == Errc::kNotFound));
  BOOST_TEST((other.commit(*put, "a").error().code() == Errc::kNotFound));
  BOOST_TEST((code_of(world.stranger.abort(*put)) == Errc::kUnset));
  BOOST_TEST((code_of(world.stranger.abort(*put)) == Errc::kNotFound));
  BOOST_TEST(world.old_is_there());
}

BOOST_AUTO_TEST_CASE(an_abort_stops_what_is_being_pulled) {
  StrangeWorld world;
  const auto put = world.stranger.begin("a", kGranuleBytes);
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  const PutStripeRequest request = world.stranger.offer(*put, 0, world.bytes);
  world.stranger.serve_nothing = true;
  auto sent = world.stranger.start_put(request);
  BOOST_REQUIRE(comes_true([&] { return world.stranger.asked > 0; }));
  BOOST_TEST((code_of(world.stranger.put(request)) == Errc::kInvalidArgument));
  BOOST_TEST((world.stranger.commit(*put, "a").error().code() == Errc::kInvalidArgument));
  BOOST_TEST((code_of(world.stranger.abort(*put)) == Errc::kUnset));
  BOOST_TEST((code_of(sent.get()) == Errc::kCancelled));
  world.stranger.serve_nothing = false;
  BOOST_TEST(world.home_is_clean());
  BOOST_TEST(world.old_is_there());
}

BOOST_AUTO_TEST_CASE(a_writer_that_vanishes_leaves_nothing) {
  StrangeWorld world;
  const auto put = world.stranger.begin("a", 2 * kGranuleBytes);
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  const auto first = world.stranger.put(world.stranger.offer(*put, 0, world.bytes));
  BOOST_REQUIRE_MESSAGE(first.ok(), describe(first));
  const std::uint64_t asked = world.stranger.asked;
  world.stranger.serve_nothing = true;
  auto sent = world.stranger.start_put(world.stranger.offer(*put, 1, world.bytes));
  BOOST_REQUIRE(comes_true([&] { return world.stranger.asked > asked; }));
  world.stranger.vanish();
  BOOST_TEST(!sent.get().ok());
  BOOST_TEST(world.home_is_clean());
  BOOST_TEST(world.old_is_there());
}

BOOST_AUTO_TEST_CASE(a_writer_that_vanishes_at_its_door_leaves_nothing) {
  StrangeWorld world;
  const auto put = world.stranger.begin("a", kGranuleBytes);
  BOOST_REQUIRE_MESSAGE(put.ok(), describe(put));
  world.stranger.vanish_at_the_door = true;
  BOOST_TEST(!world.stranger.put(world.stranger.offer(*put, 0, world.bytes)).ok());
  // The home's rails to it are still being opened, or closed, as its session ends.
  BOOST_TEST(world.home_is_clean());
  BOOST_TEST(world.old_is_there());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
