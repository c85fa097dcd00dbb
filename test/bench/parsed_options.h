#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "apps/p2p_bench/bench_options.h"

namespace corail::bench {

inline ParsedOptions parse(std::vector<std::string> arguments) {
  std::vector<const char*> argv = {"p2p_bench"};
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

inline BenchOptions accept(std::vector<std::string> arguments) {
  ParsedOptions parsed = parse(std::move(arguments));
  BOOST_TEST(parsed.text == "");
  BOOST_REQUIRE(parsed.options.has_value());
  return *parsed.options;
}

/// The sentence of a usage error; checks its form.
inline std::string refuse(std::vector<std::string> arguments) {
  const ParsedOptions parsed = parse(std::move(arguments));
  BOOST_TEST(!parsed.options.has_value());
  BOOST_TEST(parsed.exit_code == 2);
  BOOST_TEST(parsed.text.starts_with("p2p_bench: "));
  BOOST_TEST(parsed.text.ends_with("\nTry p2p_bench --help.\n"));
  return parsed.text;
}

inline bool mentions(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

/// Sets an environment variable for the length of a scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

}  // namespace corail::bench
