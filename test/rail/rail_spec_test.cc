#include "engine/rail/rail_spec.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <variant>

#include "engine/rail/port.h"

namespace corail::test {
namespace {

std::string round_trip(std::string_view text) {
  const auto spec = parse_rail_spec(text);
  return spec.ok() ? to_string(*spec) : spec.error().to_string();
}

Errc failure(std::string_view text) {
  const auto spec = parse_rail_spec(text);
  return spec.ok() ? Errc::kUnset : spec.error().code();
}

BOOST_AUTO_TEST_SUITE(rail_spec)

BOOST_AUTO_TEST_CASE(specs_are_read_and_written_back) {
  BOOST_TEST(round_trip("tcp:10.0.0.1") == "tcp:10.0.0.1");
  BOOST_TEST(round_trip("tcp:[::1]") == "tcp:::1");
  BOOST_TEST(round_trip("tcp:::1") == "tcp:::1");
  BOOST_TEST(round_trip("verbs:mlx5_0") == "verbs:mlx5_0:1");
  BOOST_TEST(round_trip("verbs:mlx5_0:2") == "verbs:mlx5_0:2");
  BOOST_TEST(round_trip("verbs:rxe0:1/3") == "verbs:rxe0:1/3");
  BOOST_TEST(round_trip("verbs:rxe0/0") == "verbs:rxe0:1/0");
  BOOST_TEST(round_trip("mock:125MB/s+50us") == "mock:125MB/s+50us");
}

BOOST_AUTO_TEST_CASE(a_mock_spec_is_a_model) {
  const auto spec = parse_rail_spec("mock:125MB/s+50us");
  BOOST_REQUIRE(spec.ok());
  const LinkModel& model = std::get<MockRailSpec>(*spec).model;
  BOOST_TEST(model.bytes_per_second == 125'000'000U);
  BOOST_TEST((model.latency == std::chrono::microseconds(50)));
}

BOOST_AUTO_TEST_CASE(an_unknown_scheme_lists_those_that_exist) {
  const auto spec = parse_rail_spec("roce:mlx5_0");
  BOOST_REQUIRE(!spec.ok());
  BOOST_TEST((spec.error().code() == Errc::kUnknownName));
  for (const char* scheme : {"tcp:", "verbs:", "mock:"}) {
    BOOST_TEST(spec.error().detail().find(scheme) != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(what_is_malformed_is_refused) {
  for (const char* text : {"",
                           "tcp",
                           "tcp:",
                           "tcp:localhost",
                           "tcp:10.0.0.1:7700",
                           "tcp:10.0.0",
                           "tcp:0.0.0.0",
                           "tcp:224.0.0.1",
                           "tcp:[::1",
                           "tcp:10.0.0.1,",
                           "tcp:10.0.0.1 ",
                           "verbs:",
                           "verbs::1",
                           "verbs:mlx5_0:",
                           "verbs:mlx5_0:0",
                           "verbs:mlx5_0:256",
                           "verbs:mlx5_0:1/",
                           "verbs:mlx5_0:1/256",
                           "verbs:mlx5_0:1x",
                           "mock:",
                           "mock:125",
                           "mock:0MB/s",
                           "mock:125MB/s+",
                           "mock:125MB/s+50"}) {
    BOOST_TEST((failure(text) == Errc::kInvalidArgument), text);
  }
}

BOOST_AUTO_TEST_CASE(a_port_is_made_with_what_the_spec_says_and_else_with_the_nodes_options) {
  PortOptions options;
  options.channels_per_rail = 3;
  options.path_tuning.service_level = 4;
  options.gid_index = std::uint8_t{5};
  options.max_region_bytes = 1 << 20;
  options.seed = 9;
  VerbsRailSpec spec;
  spec.device = "mlx5_1";
  spec.port = 2;
  const VerbsOptions made = verbs_options_of(spec, options);
  BOOST_TEST(made.device == "mlx5_1");
  BOOST_TEST(int{made.port} == 2);
  BOOST_TEST(int{made.gid.value()} == 5);
  BOOST_TEST(made.channels == 3U);
  BOOST_TEST((made.tuning == options.path_tuning));
  BOOST_TEST(made.max_region_bytes == 1U << 20);
  BOOST_TEST(made.seed == 9U);
  spec.gid = std::uint8_t{7};
  BOOST_TEST(int{verbs_options_of(spec, options).gid.value()} == 7);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
