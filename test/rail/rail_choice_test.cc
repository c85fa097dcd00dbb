#include "engine/rail/rail_choice.h"

#include <boost/test/unit_test.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace corail {
namespace {

/// Two devices of one vendor, one of whose names begins as the other's; a third with two ports, the
/// second of which is down.
const std::vector<DevicePort> kPorts = {
    {"mlx5_1", 1, true}, {"mlx5_10", 1, true}, {"rxe0", 1, true}, {"rxe0", 2, false}};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> items;
  std::istringstream text(list);
  for (std::string item; std::getline(text, item, ',');) items.push_back(item);
  return items;
}

/// The specs that a list means, joined; else the error's code and sentence.
std::string chosen(const std::string& list, const std::vector<DevicePort>& ports = kPorts) {
  const auto choices = parse_rail_choices(split(list));
  if (!choices.ok()) return "malformed: " + choices.error().detail();
  const auto specs = choose_rails(*choices, ports);
  if (!specs.ok()) {
    BOOST_TEST((specs.error().code() == Errc::kUnknownName));
    return "nothing: " + specs.error().detail();
  }
  std::string text;
  for (const RailSpec& spec : *specs) text += (text.empty() ? "" : " ") + to_string(spec);
  return text;
}

bool mentions(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(rail_choice)

BOOST_AUTO_TEST_CASE(a_name_is_a_device_and_else_a_beginning) {
  BOOST_TEST(chosen("verbs:mlx5_1") == "verbs:mlx5_1:1");
  BOOST_TEST(chosen("verbs:rxe0:2/5") == "verbs:rxe0:2/5");
  BOOST_TEST(chosen("verbs:rxe0") == "verbs:rxe0:1");
  BOOST_TEST(chosen("verbs:mlx5") == "verbs:mlx5_1:1 verbs:mlx5_10:1");
  BOOST_TEST(chosen("verbs:mlx5/3") == "verbs:mlx5_1:1/3 verbs:mlx5_10:1/3");
  // Ports that are down are no rails unless they are named.
  BOOST_TEST(chosen("verbs:rxe") == "verbs:rxe0:1");
  BOOST_TEST(chosen("verbs:rxe:2") == "verbs:rxe0:2");
}

BOOST_AUTO_TEST_CASE(a_list_goes_on_until_the_next_transport) {
  BOOST_TEST(chosen("verbs:=mlx5_10:1,mlx5_1:1") == "verbs:mlx5_10:1 verbs:mlx5_1:1");
  BOOST_TEST(chosen("tcp:10.0.0.1,verbs:mlx5_1,rxe0/2,tcp:10.0.0.2") ==
             "tcp:10.0.0.1 verbs:mlx5_1:1 verbs:rxe0:1/2 tcp:10.0.0.2");
  BOOST_TEST(chosen("verbs:mlx5_1,verbs:rxe0") == "verbs:mlx5_1:1 verbs:rxe0:1");
}

BOOST_AUTO_TEST_CASE(a_list_has_no_port_twice) {
  BOOST_TEST(chosen("verbs:mlx5,mlx5_1") == "verbs:mlx5_1:1 verbs:mlx5_10:1");
  // Two choices are the user's own.
  BOOST_TEST(chosen("verbs:mlx5_1,verbs:mlx5_1") == "verbs:mlx5_1:1 verbs:mlx5_1:1");
}

BOOST_AUTO_TEST_CASE(an_equals_sign_wants_whole_names) {
  BOOST_TEST(chosen("verbs:=mlx5_1") == "verbs:mlx5_1:1");
  BOOST_TEST(chosen("verbs:=rxe0:2/1") == "verbs:rxe0:2/1");
  const std::string none = chosen("verbs:=mlx5");
  BOOST_TEST(mentions(none, "nothing: 'verbs:=mlx5'"), none);
  BOOST_TEST(mentions(none, "mlx5_1:1, mlx5_10:1, rxe0:1, rxe0:2 (down)"), none);
  BOOST_TEST(mentions(chosen("verbs:=mlx5_1,mlx5"), "nothing"));
}

BOOST_AUTO_TEST_CASE(a_caret_leaves_out) {
  BOOST_TEST(chosen("verbs:^rxe0") == "verbs:mlx5_1:1 verbs:mlx5_10:1");
  BOOST_TEST(chosen("verbs:^mlx5_1") == "verbs:mlx5_10:1 verbs:rxe0:1");
  BOOST_TEST(chosen("verbs:^mlx5") == "verbs:rxe0:1");
  BOOST_TEST(chosen("verbs:^=mlx5") == "verbs:mlx5_1:1 verbs:mlx5_10:1 verbs:rxe0:1");
  BOOST_TEST(chosen("verbs:^mlx5_1,mlx5_10") == "verbs:rxe0:1");
  BOOST_TEST(chosen("verbs:^rxe0:2") == "verbs:mlx5_1:1 verbs:mlx5_10:1 verbs:rxe0:1");
  BOOST_TEST(mentions(chosen("verbs:^mlx5,rxe"), "nothing: 'verbs:^mlx5'"));
  BOOST_TEST(mentions(chosen("verbs:^mlx5_1/3"), "a GID has no use"));
}

BOOST_AUTO_TEST_CASE(a_plain_name_that_is_not_there_is_for_whoever_opens_it) {
  BOOST_TEST(chosen("verbs:mlx4_0") == "verbs:mlx4_0:1");
  BOOST_TEST(chosen("verbs:mlx4_0:2/7", {}) == "verbs:mlx4_0:2/7");
  BOOST_TEST(mentions(chosen("verbs:^mlx4_0", {}), "this machine has none"));
}

BOOST_AUTO_TEST_CASE(what_is_malformed_is_told_before_any_device_is_asked) {
  for (const char* bad : {"verbs:", "verbs:=", "verbs:^", "verbs:a:0", "verbs:a/x", "verbs:a,b:x",
                          "pigeon:1", "tcp:somewhere", "mlx5_1"}) {
    BOOST_TEST(mentions(chosen(bad), "malformed: "), bad);
  }
  const std::vector<std::string> tcp = {"tcp:10.0.0.1"};
  BOOST_TEST(machine_ports(*parse_rail_choices(tcp)).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
