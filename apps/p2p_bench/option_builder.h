#pragma once

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/p2p_bench/option_values.h"

namespace corail::bench {

/// Declares options on a CLI::App, each with an environment variable and with a sentence of its own
/// for a bad value. Values are stored by the validators, so CLI11 never converts and its messages
/// never show. Targets and app outlive the parse.
class OptionBuilder {
 public:
  explicit OptionBuilder(CLI::App& app) : app_(app) {}

  /// Options declared from here on are listed under this heading.
  void group(std::string heading) { group_ = std::move(heading); }

  template <typename Number>
  void whole(const std::string& names, Number& target, std::uint64_t least,
             const std::string& help) {
    add(names, "N", fmt::format("{}", target), help,
        store_whole<Number>(target, least, std::numeric_limits<Number>::max()),
        fmt::format("a whole number from {}", least));
  }

  template <typename Number>
  void range(const std::string& names, Number& target, std::uint64_t least, std::uint64_t most,
             const std::string& help) {
    add(names, "N", fmt::format("{}", target), help, store_whole<Number>(target, least, most),
        fmt::format("a whole number from {} to {}", least, most));
  }

  /// Stays empty unless it is given.
  template <typename Number>
  void range(const std::string& names, std::optional<Number>& target, std::uint64_t least,
             std::uint64_t most, const std::string& help) {
    add(names, "N", "", help, store_whole<Number>(target, least, most),
        fmt::format("a whole number from {} to {}", least, most));
  }

  template <typename Number>
  void size(const std::string& names, Number& target, const std::string& help,
            std::uint64_t least = 1) {
    const std::uint64_t most = std::numeric_limits<Number>::max();
    const auto read = [&target, least, most](const std::string& text) {
      const auto value = parse_bytes(text);
      if (!value || *value < least || *value > most) return false;
      target = static_cast<Number>(*value);
      return true;
    };
    add(names, "BYTES", format_bytes(target), help, read, "a size like 4096, 4KiB or 32MiB");
  }

  template <typename Value>
  void choice(const std::string& names, Value& target, const std::map<std::string, Value>& values,
              const std::string& help) {
    std::string possible;
    std::string fallback;
    for (const auto& [name, value] : values) {
      possible += (possible.empty() ? "" : "|") + name;
      if (value == target) fallback = name;
    }
    const auto read = [&target, values](const std::string& text) {
      const auto found = values.find(text);
      if (found != values.end()) target = found->second;
      return found != values.end();
    };
    add(names, possible, fallback, help, read, "one of " + possible);
  }

  /// A list without repetitions, separated by commas.
  template <typename Value>
  void choices(const std::string& names, std::vector<Value>& target,
               const std::map<std::string, Value>& values, const std::string& help) {
    std::string possible;
    std::string fallback;
    for (const auto& [name, value] : values) {
      possible += (possible.empty() ? "" : ",") + name;
      if (target.size() == 1 && value == target.front()) fallback = name;
    }
    const auto read = [&target, values](const std::string& text) {
      target.clear();
      for (const std::string& item : split_list(text, ',')) {
        const auto found = values.find(item);
        if (found == values.end() || std::ranges::count(target, found->second) != 0) return false;
        target.push_back(found->second);
      }
      return true;
    };
    add(names, possible, fallback, help, read, "a list of some of " + possible);
  }

  /// A number from 0 on.
  void number(const std::string& names, const std::string& type, double& target,
              const std::string& help);
  void decimal(const std::string& names, const std::string& type, std::optional<double>& target,
               const std::string& help);
  void address(const std::string& names, std::string& target, bool port_zero,
               const std::string& fallback, const std::string& help);
  void text(const std::string& names, const std::string& type, std::string& target,
            const std::string& help);
  void flag(const std::string& name, bool& target, const std::string& help);

  /// Whether the command line or the environment named this option.
  bool given(const std::string& name) const { return app_.get_option(name)->count() > 0; }

 private:
  using Read = std::function<bool(const std::string&)>;

  template <typename Number, typename Target>
  static Read store_whole(Target& target, std::uint64_t least, std::uint64_t most) {
    return [&target, least, most](const std::string& text) {
      const auto value = parse_whole(text);
      if (!value || *value < least || *value > most) return false;
      target = static_cast<Number>(*value);
      return true;
    };
  }

  /// `read` stores the value or says no; `possible` completes "'x' is not ...".
  void add(const std::string& names, const std::string& type, const std::string& fallback,
           const std::string& help, Read read, const std::string& possible);
  void finish(CLI::Option* option);

  CLI::App& app_;
  std::string group_;
};

}  // namespace corail::bench
