#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace corail::bench {

/// Help lines that read well: "--blocks N   Blocks that one iteration reads [128]". CLI11's own put
/// default and environment variable between name and description.
class HelpFormatter final : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(32); }

  std::string make_option_opts(const CLI::Option* option) const override {
    const bool valued = option->get_type_size() != 0 && !option->get_positional();
    return valued ? " " + option->get_type_name() : std::string();
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    const std::string fallback = option->get_default_str();
    return option->get_description() + (fallback.empty() ? "" : " [" + fallback + "]");
  }

  std::string make_positionals(const CLI::App* app) const override {
    return CLI::Formatter::make_positionals(app) + "\n";
  }
};

}  // namespace corail::bench
