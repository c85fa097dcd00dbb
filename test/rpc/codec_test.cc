#include "rpc/codec.h"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>

#include "proto/corail/v1/error.pb.h"
#include "proto/corail/v1/hello.pb.h"
#include "proto/corail/v1/rails.pb.h"
#include "test/rpc/bytes.h"
#include "test/rpc/codec_checks.h"
#include "test/rpc/codec_samples.h"

namespace corail::test {
namespace {

HelloRequest hello_request() {
  HelloRequest hello;
  hello.identity = NodeIdentity{NodeId(1), BootId(2), "node-a"};
  hello.auth_methods = {"none"};
  return hello;
}

HelloAnswer hello_answer() {
  HelloAnswer answer;
  answer.protocol_version = 1;
  answer.identity = NodeIdentity{NodeId(3), kBoot, "node-b"};
  answer.auth_method = "none";
  return answer;
}

RegionTable region_table() {
  std::vector<Region> regions;
  regions.push_back(Region{RegionId(1), 0x1000, 0x1000, 0, {0, 7}});
  regions.push_back(Region{RegionId(2), 0x7F00'0000'0000, 1 << 30, 1, {}});
  return RegionTable::make(TableGeneration(9), std::move(regions)).value();
}

std::vector<RailEndpoint> endpoints() {
  RailEndpoint endpoint{"tcp", "10.0.0.1", 7701, {}};
  endpoint.token.fill(0xAB);
  return {endpoint, endpoint};
}

BOOST_AUTO_TEST_SUITE(codec)

BOOST_AUTO_TEST_CASE(errors_travel_but_not_all_codes) {
  const Error error(Errc::kLeaseExpired, Stage::kConfirm, "the lease\nlapsed \xC3\xA9");
  const Error back = decode_error(body_of(encode_error(error)));
  BOOST_TEST((back.code() == Errc::kLeaseExpired && back.stage() == Stage::kConfirm));
  BOOST_TEST(back.detail() == "the lease?lapsed ??");
  // What concerns this side's rails or integrity is never believed of a peer.
  for (int code = 1; code <= static_cast<int>(Errc::kClosed); ++code) {
    const Error sent(static_cast<Errc>(code), "x");
    const Error got = decode_error(body_of(encode_error(sent)));
    const bool local = sent.error_class() == ErrorClass::kTransport ||
                       sent.error_class() == ErrorClass::kIntegrity || sent.code() == Errc::kUnset;
    BOOST_TEST((got.code() == (local ? Errc::kRefused : sent.code())));
  }
  BOOST_TEST((decode_error(bytes_of("\xFF")).code() == Errc::kRefused));
  v1::ErrorInfo unknown;
  unknown.set_code(static_cast<v1::ErrorCode>(12345));
  unknown.set_stage(static_cast<v1::ErrorStage>(99));
  unknown.set_detail(std::string(3000, 'a'));
  const Error odd = decode_error(bytes_of_message(unknown));
  BOOST_TEST((odd.code() == Errc::kRefused && odd.stage() == Stage::kNone));
  BOOST_TEST(odd.detail().size() == kMaxErrorDetailBytes);
}

BOOST_AUTO_TEST_CASE(hello_round_trip) {
  const auto back = decode_hello(body_of(encode_hello(hello_request())));
  BOOST_REQUIRE(back.ok());
  BOOST_TEST(back->identity.name == "node-a");
  BOOST_TEST((back->identity.node == NodeId(1) && back->identity.boot == BootId(2)));
  BOOST_TEST(back->protocol_max == kProtocolMax);
  BOOST_REQUIRE(back->auth_methods.size() == 1U);
  const auto answer =
      decode_hello_answer(body_of(encode_hello_answer(hello_answer())), hello_request());
  BOOST_REQUIRE(answer.ok());
  BOOST_TEST((answer->identity.boot == kBoot && answer->step == HelloStep::kDone));
}

BOOST_AUTO_TEST_CASE(hello_fields_are_checked) {
  const auto refused = [](std::string_view field, std::function<void(v1::HelloRequest&)> change) {
    v1::HelloRequest message;
    const Bytes body = body_of(encode_hello(hello_request()));
    BOOST_REQUIRE(message.ParseFromArray(body.data(), static_cast<int>(body.size())));
    change(message);
    check_names(decode_hello(bytes_of_message(message)), field);
  };
  refused("protocol_min", [](auto& m) { m.set_protocol_min(0); });
  refused("protocol_min", [](auto& m) { m.set_protocol_min(2); });
  refused("node_name", [](auto& m) { m.set_node_name(std::string(257, 'x')); });
  refused("auth_methods", [](auto& m) { m.add_auth_methods(std::string(65, 'x')); });
  refused("auth_methods", [](auto& m) {
    for (int i = 0; i < 8; ++i) m.add_auth_methods("x");
  });
  refused("auth_bytes", [](auto& m) { m.set_auth_bytes(std::string(16385, 'x')); });

  const auto wrong = [](std::string_view field, std::function<void(HelloAnswer&)> change) {
    HelloAnswer answer = hello_answer();
    change(answer);
    check_names(decode_hello_answer(body_of(encode_hello_answer(answer)), hello_request()), field);
  };
  wrong("protocol_version", [](HelloAnswer& a) { a.protocol_version = 2; });
  wrong("features", [](HelloAnswer& a) { a.features = 4; });
  wrong("step", [](HelloAnswer& a) { a.step = static_cast<HelloStep>(9); });
  wrong("auth_method", [](HelloAnswer& a) { a.auth_method = "magic"; });
}

BOOST_AUTO_TEST_CASE(already_connected_is_an_answer_to_those_who_share_sessions_only) {
  HelloAnswer answer = hello_answer();
  answer.step = HelloStep::kAlreadyConnected;
  const Bytes body = body_of(encode_hello_answer(answer));
  HelloRequest asked = hello_request();
  check_names(decode_hello_answer(body, asked), "step");
  asked.features = kFeatureTwoWay;
  const auto back = decode_hello_answer(body, asked);
  BOOST_REQUIRE(back.ok());
  BOOST_TEST((back->step == HelloStep::kAlreadyConnected));
  asked.separate = true;
  check_names(decode_hello_answer(body, asked), "step");
}

BOOST_AUTO_TEST_CASE(a_goodbye_of_a_later_version_has_no_reason) {
  const auto reason = decode_goodbye(body_of(encode_goodbye(static_cast<GoodbyeReason>(77))));
  BOOST_REQUIRE(reason.ok());
  BOOST_TEST((*reason == GoodbyeReason::kUnknown));
  BOOST_TEST(!decode_goodbye(bytes_of("\xFF")).ok());
}

BOOST_AUTO_TEST_CASE(rails_round_trip) {
  OpenRailsRequest request;
  request.rail_count = 2;
  request.descriptions = {"tcp:10.0.0.2", "tcp:10.0.1.2"};
  const auto asked = decode_open_rails(body_of(encode_open_rails(request)));
  BOOST_REQUIRE(asked.ok());
  BOOST_TEST(asked->descriptions == request.descriptions, boost::test_tools::per_element());

  const RegionTable table = region_table();
  const auto answer =
      decode_open_rails_answer(body_of(encode_open_rails_answer(endpoints(), table)));
  BOOST_REQUIRE(answer.ok());
  BOOST_REQUIRE(answer->rails.size() == 2U);
  BOOST_TEST((answer->rails[1].token == endpoints()[1].token));
  BOOST_TEST(answer->rails[0].port == 7701);
  BOOST_TEST((answer->regions.generation() == TableGeneration(9)));
  const auto regions = decode_get_regions_answer(body_of(encode_get_regions_answer(table)));
  BOOST_REQUIRE(regions.ok());
  BOOST_REQUIRE(regions->regions().size() == 2U);
  BOOST_TEST(regions->regions()[1].length == std::uint64_t{1} << 30);
  BOOST_TEST(regions->regions()[0].keys == (std::vector<std::uint64_t>{0, 7}),
             boost::test_tools::per_element());
  const auto changed = decode_regions_changed(body_of(encode_regions_changed(TableGeneration(4))));
  BOOST_REQUIRE(changed.ok());
  BOOST_TEST((*changed == TableGeneration(4)));
}

BOOST_AUTO_TEST_CASE(rails_fields_are_checked) {
  const auto refused = [](std::string_view field,
                          std::function<void(v1::OpenRailsAnswer&)> change) {
    v1::OpenRailsAnswer message;
    const Bytes body = body_of(encode_open_rails_answer(endpoints(), region_table()));
    BOOST_REQUIRE(message.ParseFromArray(body.data(), static_cast<int>(body.size())));
    change(message);
    check_names(decode_open_rails_answer(bytes_of_message(message)), field);
  };
  refused("rails", [](auto& m) { m.clear_rails(); });
  refused("rails", [](auto& m) {
    for (int i = 0; i < 63; ++i) *m.add_rails() = m.rails(0);
  });
  refused("port", [](auto& m) { m.mutable_rails(0)->set_port(65536); });
  refused("token", [](auto& m) { m.mutable_rails(1)->set_token("short"); });
  refused("transport", [](auto& m) { m.mutable_rails(0)->set_transport(std::string(33, 'x')); });
  refused("address", [](auto& m) { m.mutable_rails(0)->set_address(std::string(257, 'x')); });
  refused("numa_node", [](auto& m) { m.mutable_regions(0)->set_numa_node(-2); });
  refused("numa_node", [](auto& m) { m.mutable_regions(0)->set_numa_node(1024); });
  refused("keys", [](auto& m) {
    for (int i = 0; i < 63; ++i) m.mutable_regions(0)->add_keys(1);
  });
  refused("region 1", [](auto& m) { m.mutable_regions(0)->set_length(0); });
  refused("region 2", [](auto& m) { m.mutable_regions(1)->set_length(~std::uint64_t{0}); });
  refused("one id", [](auto& m) { m.mutable_regions(1)->set_id(1); });

  OpenRailsRequest request;
  check_names(decode_open_rails(body_of(encode_open_rails(request))), "rail_count");
  request.rail_count = 3;
  request.descriptions = {"one"};
  check_names(decode_open_rails(body_of(encode_open_rails(request))), "rail_descriptions");
}

BOOST_AUTO_TEST_CASE(repeated_messages_are_counted_before_they_are_made) {
  // Two bytes on the wire each, and tens of bytes in memory if they were parsed.
  Bytes body;
  for (std::size_t i = 0; i <= kMaxRegions; ++i) {
    body.push_back(std::byte{0x12});
    body.push_back(std::byte{0});
  }
  check_names(decode_open_rails_answer(body), "regions");
}

/// Every decoder against every message, cut and mutated: an answer or an error, nothing else.
BOOST_AUTO_TEST_CASE(hostile_mutations) {
  OpenRailsRequest rails;
  rails.rail_count = 1;
  const HelloRequest hello = hello_request();
  const std::vector<Bytes> messages = {
      body_of(encode_hello(hello)),
      body_of(encode_hello_answer(hello_answer())),
      body_of(encode_open_rails(rails)),
      body_of(encode_open_rails_answer(endpoints(), region_table())),
      body_of(encode_get_regions_answer(region_table())),
      body_of(
          encode_query(ReadId(1), keys_of(5), std::chrono::seconds(1), 3, AnswerEncoding::kParts)),
      body_of(encode_error(Error(Errc::kBusy, "try later"))),
      body_of(encode_read_id(ReadId(77))),
  };
  std::size_t fine = 0;
  const auto decode_all = [&](const Bytes& body) {
    fine += decode_hello(body).ok() ? 1 : 0;
    fine += decode_hello_answer(body, hello).ok() ? 1 : 0;
    fine += decode_open_rails(body).ok() ? 1 : 0;
    fine += decode_open_rails_answer(body).ok() ? 1 : 0;
    fine += decode_get_regions_answer(body).ok() ? 1 : 0;
    fine += decode_regions_changed(body).ok() ? 1 : 0;
    fine += decode_query(body).ok() ? 1 : 0;
    fine += decode_read_id(Method::kReleaseLease, body).ok() ? 1 : 0;
    BOOST_REQUIRE(decode_error(body).code() != Errc::kUnset);
  };
  for (const Bytes& message : messages) {
    for (std::size_t size = 0; size <= message.size(); ++size) {
      decode_all(Bytes(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size)));
    }
  }
  SeededRandom random(3);
  for (int i = 0; i < 20'000; ++i)
    decode_all(mutated(messages[random.below(messages.size())], random));
  BOOST_TEST(fine > 1000U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
