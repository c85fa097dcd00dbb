// What rails say to doors over the control connection.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>

#include "engine/rail/greeting_limit.h"
#include "engine/rail/rail_greeter.h"
#include "rpc/codec.h"
#include "test/rpc/bytes.h"
#include "test/rpc/codec_checks.h"
#include "test/rpc/session_support.h"

namespace corail::test {
namespace {

using std::chrono::seconds;

template <typename T>
bool has_error(const Result<T>& result, Errc code) {
  return !result.ok() && result.error().code() == code;
}

BOOST_AUTO_TEST_SUITE(greetings_of_rails)

BOOST_AUTO_TEST_CASE(what_is_said_is_what_is_heard) {
  const std::string words("any\0bytes", 9);
  const Bytes body = body_of(encode_greet_door(63, words));
  const auto asked = decode_greet_door(body);
  BOOST_REQUIRE(asked.ok());
  BOOST_TEST(asked->door == 63U);
  BOOST_TEST(asked->words == words);
  const auto answer = decode_greet_door_answer(body_of(encode_greet_door_answer(words)));
  BOOST_REQUIRE(answer.ok());
  BOOST_TEST(*answer == words);
}

BOOST_AUTO_TEST_CASE(doors_and_lengths_are_checked) {
  const std::string longest(kMaxGreetingBytes, 'x');
  BOOST_TEST(decode_greet_door(body_of(encode_greet_door(0, longest))).ok());
  check_names(decode_greet_door(body_of(encode_greet_door(0, longest + "x"))), "words");
  check_names(decode_greet_door(body_of(encode_greet_door(kMaxRails, ""))), "door");
  BOOST_TEST(decode_greet_door_answer(body_of(encode_greet_door_answer(longest))).ok());
  check_names(decode_greet_door_answer(body_of(encode_greet_door_answer(longest + "x"))), "words");
  BOOST_TEST(limits_of(Method::kGreetDoor).request_bytes >
             body_of(encode_greet_door(63, longest)).size());
}

BOOST_AUTO_TEST_CASE(each_endpoint_leads_to_its_door) {
  HolderWorld holder;
  SessionClient& client = holder.connect();
  const auto early = holder.world.run(client.greet_door(0, "hello", holder.in(seconds(5))));
  BOOST_TEST(has_error(early, Errc::kProtocol));
  const auto opened = holder.world.run(client.open_rails({"verbs:a"}, holder.in(seconds(5))));
  BOOST_REQUIRE(opened.ok());
  for (std::size_t i = 0; i < opened->size(); ++i) {
    BOOST_REQUIRE((*opened)[i].greeter != nullptr);
    const auto answer =
        holder.world.run((*opened)[i].greeter->greet("hello", holder.in(seconds(5))));
    BOOST_REQUIRE(answer.ok());
    BOOST_TEST(*answer == "1:" + std::to_string(i) + ":hello");
  }
  const auto none = holder.world.run(client.greet_door(7, "hello", holder.in(seconds(5))));
  BOOST_TEST(has_error(none, Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
