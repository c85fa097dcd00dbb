#include "engine/base/error.h"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace corail {
namespace {

std::vector<Errc> all_codes() {
  std::vector<Errc> codes;
  for (int i = 1; i <= static_cast<int>(Errc::kClosed); ++i) codes.push_back(static_cast<Errc>(i));
  return codes;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(error)

BOOST_AUTO_TEST_CASE(every_code_has_a_text_of_its_own) {
  std::set<std::string> texts;
  for (const Errc code : all_codes()) {
    const std::string text(to_string(code));
    BOOST_TEST(!text.empty());
    BOOST_TEST(text != "unknown error");
    BOOST_TEST(texts.insert(text).second);
    BOOST_TEST(make_error_code(code).message() == text);
  }
  BOOST_TEST(to_string(static_cast<Errc>(9999)) == "unknown error");
}

BOOST_AUTO_TEST_CASE(every_stage_has_a_text_of_its_own) {
  std::set<std::string> texts;
  for (int i = 0; i <= static_cast<int>(Stage::kClose); ++i) {
    const std::string text(to_string(static_cast<Stage>(i)));
    BOOST_TEST(text != "unknown");
    BOOST_TEST(texts.insert(text).second);
  }
}

// A rail's health depends on this: nothing but a fault of the path may count against it.
BOOST_AUTO_TEST_CASE(only_faults_of_the_path_are_transport_errors) {
  const std::set<Errc> transport = {Errc::kConnectFailed, Errc::kConnectionLost, Errc::kRailFailed,
                                    Errc::kFlushed};
  for (const Errc code : all_codes()) {
    BOOST_TEST((error_class(code) == ErrorClass::kTransport) == transport.contains(code));
  }
}

// A reference into a temporary would dangle at the end of the statement that binds it.
BOOST_AUTO_TEST_CASE(what_is_added_comes_back_by_value) {
  static_assert(std::is_same_v<decltype(Error().at(Stage::kWait)), Error>);
  static_assert(std::is_same_v<decltype(Error().on_peer("")), Error>);
  static_assert(std::is_same_v<decltype(Error().on_rail("")), Error>);
  const Error& bound = Error(Errc::kBusy, "a sentence that is too long to be kept within a string")
                           .at(Stage::kWait)
                           .on_peer("10.0.0.2:7700");
  BOOST_TEST(contains(bound.to_string(), "too long to be kept"));
}

BOOST_AUTO_TEST_CASE(converts_to_an_error_code_of_its_own_category) {
  const std::error_code code = Errc::kBusy;
  BOOST_TEST((code == Errc::kBusy));
  BOOST_TEST((code != Errc::kStuck));
  BOOST_TEST((code.category() == corail_category()));
  BOOST_TEST(Error(Errc::kBusy, "").error_code() == code);
}

BOOST_AUTO_TEST_CASE(the_inner_layer_knows_better) {
  const Error error = Error(Errc::kRailFailed, Stage::kWait, "retries exceeded")
                          .on_peer("10.0.0.2:7700")
                          .on_rail("1")
                          .at(Stage::kVerify)
                          .on_peer("somebody else")
                          .on_rail("2");
  BOOST_TEST((error.stage() == Stage::kWait));
  BOOST_TEST(error.peer() == "10.0.0.2:7700");
  BOOST_TEST(error.rail() == "1");
}

// Every combination of what may be known: all of it is in the line, nothing else is.
BOOST_AUTO_TEST_CASE(the_line_tells_everything_that_is_known) {
  for (unsigned known = 0; known < 16; ++known) {
    Error error(Errc::kRailFailed, (known & 8U) != 0 ? "the sentence" : "");
    if ((known & 1U) != 0) error = std::move(error).at(Stage::kWait);
    if ((known & 2U) != 0) error = std::move(error).on_peer("P");
    if ((known & 4U) != 0) error = std::move(error).on_rail("R");
    const std::string line = error.to_string();
    BOOST_TEST_CONTEXT(line) {
      BOOST_TEST(line.starts_with("rail failed"));
      BOOST_TEST(contains(line, "stage wait") == ((known & 1U) != 0));
      BOOST_TEST(contains(line, "peer P") == ((known & 2U) != 0));
      BOOST_TEST(contains(line, "rail R") == ((known & 4U) != 0));
      BOOST_TEST(contains(line, ": the sentence") == ((known & 8U) != 0));
      BOOST_TEST(contains(line, "(") == ((known & 7U) != 0));
      BOOST_TEST(!contains(line, "(,"));
      BOOST_TEST(!contains(line, ", )"));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
