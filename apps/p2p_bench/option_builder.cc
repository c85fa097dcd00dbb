#include "apps/p2p_bench/option_builder.h"

namespace corail::bench {
namespace {

/// "--max-read-bytes" is CORAIL_MAX_READ_BYTES.
std::string variable_of(const std::string& name) {
  std::string variable = "CORAIL_";
  for (const char c : name) {
    const bool small = c >= 'a' && c <= 'z';
    variable += c == '-' ? '_' : static_cast<char>(small ? c - 'a' + 'A' : c);
  }
  return variable;
}

}  // namespace

void OptionBuilder::decimal(const std::string& names, const std::string& type,
                            std::optional<double>& target, const std::string& help) {
  const auto read = [&target](const std::string& text) {
    target = parse_decimal(text);
    return target && *target > 0;
  };
  add(names, type, "", help, read, "a number above 0");
}

void OptionBuilder::number(const std::string& names, const std::string& type, double& target,
                           const std::string& help) {
  const auto read = [&target](const std::string& text) {
    const auto value = parse_decimal(text);
    target = value.value_or(0);
    return value.has_value();
  };
  add(names, type, fmt::format("{}", target), help, read, "a number from 0");
}

void OptionBuilder::address(const std::string& names, std::string& target, bool port_zero,
                            const std::string& fallback, const std::string& help) {
  const auto read = [&target, port_zero](const std::string& text) {
    target = text;
    return is_address(text, port_zero);
  };
  add(names, "ADDR:PORT", fallback, help, read, "an address like 10.0.0.2:7700");
}

void OptionBuilder::text(const std::string& names, const std::string& type, std::string& target,
                         const std::string& help) {
  const auto read = [&target](const std::string& text) {
    target = text;
    return !text.empty();
  };
  add(names, type, target, help, read, "allowed to be empty");
}

void OptionBuilder::flag(const std::string& name, bool& target, const std::string& help) {
  finish(app_.add_flag(name, target, help));
}

void OptionBuilder::add(const std::string& names, const std::string& type,
                        const std::string& fallback, const std::string& help, Read read,
                        const std::string& possible) {
  CLI::Option* option = app_.add_option(names, help);
  option->type_name(type)->default_str(fallback);
  const auto check = [read = std::move(read), possible](const std::string& value) {
    return read(value) ? std::string() : fmt::format("'{}' is not {}", value, possible);
  };
  option->check(check);
  finish(option);
}

void OptionBuilder::finish(CLI::Option* option) {
  option->group(group_)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  if (!option->get_positional()) option->envname(variable_of(option->get_single_name()));
}

}  // namespace corail::bench
