// The bytes of every message that generated code writes, as they have to stay: peers of other
// releases read them. (Frame header, preface and the query's answer have theirs beside their
// tests.)
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>

#include "rpc/codec.h"
#include "test/rpc/bytes.h"

namespace corail::test {
namespace {

const NodeIdentity kNode{NodeId(0x0102030405060708), BootId(0x1112131415161718), "a"};

HelloRequest full_hello() {
  HelloRequest hello;
  hello.identity = kNode;
  hello.features = 5;
  hello.auth_methods = {"none", "magic"};
  hello.auth_bytes = "x";
  hello.separate = true;
  return hello;
}

RegionTable one_region() {
  return RegionTable::make(TableGeneration(9), {Region{RegionId(1), 0x1000, 0x1000, 1, {0, 7}}})
      .value();
}

constexpr std::string_view kRegion =
    "0801"                // id
    "110010000000000000"  // base
    "188020"              // length
    "2002"                // numa_node, zigzag
    "2a10"
    "0000000000000000"
    "0700000000000000";  // keys

BOOST_AUTO_TEST_SUITE(golden_messages)

BOOST_AUTO_TEST_CASE(hello) {
  const Bytes body = body_of(encode_hello(full_hello()));
  BOOST_TEST(hex_of(body) ==
             "0801"                // protocol_min
             "1001"                // protocol_max
             "1805"                // features
             "210807060504030201"  // node_id
             "291817161514131211"  // boot_id
             "320161"              // node_name
             "3801"                // service
             "42046e6f6e65"
             "42056d61676963"  // auth_methods
             "4a0178"          // auth_bytes
             "5001");          // separate
  BOOST_TEST(decode_hello(body).ok());
}

BOOST_AUTO_TEST_CASE(hello_answer) {
  HelloAnswer answer;
  answer.protocol_version = 1;
  answer.features = 4;
  answer.identity = kNode;
  answer.auth_method = "none";
  answer.auth_bytes = "y";
  const Bytes body = body_of(encode_hello_answer(answer));
  BOOST_TEST(hex_of(body) ==
             "0801"                // protocol_version
             "1004"                // features
             "190807060504030201"  // node_id
             "211817161514131211"  // boot_id
             "2a0161"              // node_name
             "3001"                // step
             "3a046e6f6e65"        // auth_method
             "420179");            // auth_bytes
  BOOST_TEST(decode_hello_answer(body, full_hello()).ok());
}

BOOST_AUTO_TEST_CASE(goodbye) {
  const Bytes body = body_of(encode_goodbye(GoodbyeReason::kOtherSession));
  BOOST_TEST(hex_of(body) == "0802");  // reason
  BOOST_TEST((decode_goodbye(body).value() == GoodbyeReason::kOtherSession));
}

BOOST_AUTO_TEST_CASE(open_rails) {
  OpenRailsRequest request;
  request.rail_count = 2;
  request.descriptions = {"tcp:10.0.0.2", "mock"};
  const Bytes body = body_of(encode_open_rails(request));
  BOOST_TEST(hex_of(body) ==
             "0802"  // rail_count
             "120c"
             "7463703a31302e302e302e32"
             "1204"
             "6d6f636b");  // rail_descriptions
  BOOST_TEST(decode_open_rails(body).ok());
}

BOOST_AUTO_TEST_CASE(open_rails_answer) {
  RailEndpoint endpoint{"tcp", "10.0.0.1", 7701, {}};
  endpoint.token.fill(0xAB);
  endpoint.token[0] = 1;
  const Bytes body = body_of(encode_open_rails_answer({&endpoint, 1}, one_region()));
  BOOST_TEST(hex_of(body) ==
             "0a24"
             "0a03746370"            // transport
             "120831302e302e302e31"  // address
             "18953c"                // port
             "2210"
             "01ababababababababababababababab"  // token
             "1222" +
                 std::string(kRegion) + "1809");  // table_generation
  BOOST_TEST(decode_open_rails_answer(body).ok());
}

BOOST_AUTO_TEST_CASE(get_regions) {
  BOOST_TEST(hex_of(body_of(encode_get_regions())).empty());
  const Bytes body = body_of(encode_get_regions_answer(one_region()));
  BOOST_TEST(hex_of(body) == "0a22" + std::string(kRegion) + "1009");  // table_generation
  BOOST_TEST(decode_get_regions_answer(body).ok());
}

BOOST_AUTO_TEST_CASE(regions_changed) {
  const Bytes body = body_of(encode_regions_changed(TableGeneration(300)));
  BOOST_TEST(hex_of(body) == "08ac02");
  BOOST_TEST(decode_regions_changed(body).ok());
}

BOOST_AUTO_TEST_CASE(query) {
  BlockKeys keys;
  keys.name_space = "model-7";
  keys.hashes = {"aa", "b"};
  const Bytes body = body_of(encode_query(ReadId(77), keys, std::chrono::seconds(1),
                                          0x0102030405060708, AnswerEncoding::kParts));
  BOOST_TEST(hex_of(body) ==
             "084d"                // read_id
             "12076d6f64656c2d37"  // name_space
             "1a026161"
             "1a0162"              // hashes
             "20e807"              // ttl_ms
             "290807060504030201"  // layout_id
             "3001");              // encoding
  BOOST_TEST(decode_query(body).ok());
}

BOOST_AUTO_TEST_CASE(renewals) {
  const Bytes request = body_of(encode_renew(ReadId(77), std::chrono::seconds(1)));
  BOOST_TEST(hex_of(request) == "084d10e807");  // read_id, ttl_ms
  BOOST_TEST((decode_renew(request)->ttl == std::chrono::seconds(1)));
  const Bytes answer = body_of(encode_renew_answer(std::chrono::milliseconds(300)));
  BOOST_TEST(hex_of(answer) == "08ac02");  // ttl_ms
  BOOST_TEST((decode_renew_answer(answer).value() == std::chrono::milliseconds(300)));
}

BOOST_AUTO_TEST_CASE(sums_of_lanes) {
  const Bytes request = body_of(encode_lane_sums(ReadId(77), LaneRange{0, 300}));
  BOOST_TEST(hex_of(request) == "084d18ac02");  // read_id, lane_end
  BOOST_TEST(hex_of(body_of(encode_lane_sums(ReadId(77), LaneRange{2, 3}))) == "084d10021803");
  const auto back = decode_lane_sums(request);
  BOOST_TEST((back.ok() && back->read == ReadId(77) && back->lanes == LaneRange{0, 300}));
  const Bytes answer = body_of(encode_lane_sums_answer(LaneSums{{0x0102030405060708}, {1}}));
  BOOST_TEST(hex_of(answer) ==
             "0a080807060504030201"    // sums
             "12080100000000000000");  // rests
  BOOST_TEST((decode_lane_sums_answer(answer, 1)->rests == std::vector<std::uint64_t>{1}));
}

BOOST_AUTO_TEST_CASE(the_calls_about_a_read_and_nothing_else) {
  const Bytes body = body_of(encode_read_id(ReadId(77)));
  BOOST_TEST(hex_of(body) == "084d");
  for (const Method method : {Method::kConfirmAndRelease, Method::kConfirmLease,
                              Method::kReleaseLease, Method::kQuiesceRead}) {
    const auto read = decode_read_id(method, body);
    BOOST_TEST((read.ok() && *read == ReadId(77)));
  }
}

BOOST_AUTO_TEST_CASE(error) {
  const Bytes body = body_of(encode_error(Error(Errc::kLeaseExpired, Stage::kConfirm, "late")));
  BOOST_TEST(hex_of(body) ==
             "0816"          // code
             "12046c617465"  // detail
             "1808");        // stage
  BOOST_TEST((decode_error(body).code() == Errc::kLeaseExpired));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
