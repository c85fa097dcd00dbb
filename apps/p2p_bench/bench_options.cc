#include "apps/p2p_bench/bench_options.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

#include "apps/p2p_bench/option_builder.h"
#include "apps/p2p_bench/option_draft.h"
#include "apps/p2p_bench/option_help.h"
#include "apps/p2p_bench/option_values.h"

namespace corail::bench {
namespace {

constexpr const char* kVersion = "p2p_bench " CORAIL_VERSION;

constexpr const char* kDescription =
    "Moves KV-cache blocks from a holder process to this one over all rails, verifies every byte,\n"
    "and compares the goodput with that of raw sockets on the same memory.";

constexpr const char* kFooter =
    "BYTES takes the suffixes KiB, MiB and GiB. Each option but --version and --help is an\n"
    "environment variable, too: CORAIL_ and its long name in capitals, with _ for -. So\n"
    "--max-read-bytes is CORAIL_MAX_READ_BYTES and -n is CORAIL_ITERATIONS; one without a value,\n"
    "such as CORAIL_NO_LIMIT, takes 1 or 0. Flags beat variables, both beat the preset.\n\n"
    "Examples:\n"
    "  p2p_bench                                     two processes here, four loopback rails\n"
    "  p2p_bench --preset seed-4k --json out.json    1000 blocks of 576 segments of 4 KiB\n"
    "  p2p_bench --preset seed-4k --limit-ratio 0.8  fail below 80 % of raw sockets\n"
    "  p2p_bench --layout permuted --encoding parts,runs,segments\n"
    "  p2p_bench --objects 2 --store /disk1,/disk2   striped objects, pushed from two disks\n"
    "  p2p_bench --role holder --listen 10.0.0.2:7700 --rails tcp:10.0.0.2,tcp:10.0.1.2\n"
    "  p2p_bench 10.0.0.2:7700 --rails tcp:10.0.0.1,tcp:10.0.1.1\n\n"
    "Exit codes: 0 fine, 1 a check failed, 2 usage, 3 peer or transport, 130 interrupted.\n";

ParsedOptions usage_error(const std::string& sentence) {
  const char* end = sentence.ends_with('?') ? "" : ".";
  return {std::nullopt, fmt::format("p2p_bench: {}{}\nTry p2p_bench --help.\n", sentence, end),
          kExitUsage};
}

/// One sentence for the first argument that nothing took.
std::string unknown_argument(const CLI::App& app, const std::string& argument) {
  if (argument.empty() || argument.front() != '-') {
    return fmt::format("'{}' is one argument too many", argument);
  }
  const std::string flag = argument.substr(0, argument.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const auto near = nearest_name(flag, names);
  if (!near) return fmt::format("there is no option {}", flag);
  return fmt::format("there is no option {}, did you mean {}?", flag, *near);
}

/// One sentence for what CLI11 found wrong. Values are judged by our own validators; what is left
/// is an option without its value, and a value of one that takes none.
std::string sentence_of(const CLI::ParseError& error) {
  std::string text = error.what();
  if (error.get_name() == "ArgumentMismatch")
    text = text.substr(0, text.find(':')) + " needs a value";
  if (error.get_name() == "ConversionError") {
    text = text.substr(text.find(':') + 2) + " is not possible, it takes 1 or 0";
  }
  while (text.ends_with('\n') || text.ends_with('.')) text.pop_back();
  return text;
}

/// CLI11 ends every group of options with two blank lines.
std::string with_single_blank_lines(std::string text) {
  for (auto at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n", at)) {
    text.erase(at, 1);
  }
  return text;
}

}  // namespace

ParsedOptions parse_options(int argc, const char* const* argv) {
  Draft draft;
  const NodeOptions defaults;
  draft.options.channels_per_rail = defaults.channels_per_rail;
  draft.options.max_read_bytes = defaults.max_read_bytes;
  draft.options.window_bytes = defaults.window_bytes;
  draft.options.send_buffer_bytes = defaults.send_buffer_bytes;
  draft.options.spin_us = static_cast<std::uint32_t>(defaults.spin / std::chrono::microseconds(1));

  CLI::App app(kDescription, "p2p_bench");
  app.footer(kFooter);
  app.formatter(std::make_shared<HelpFormatter>());
  app.allow_extras();
  app.set_help_flag();
  OptionBuilder build(app);
  declare_options(build, draft);
  app.set_version_flag("--version", kVersion, "Print the version")->group("Output");
  app.set_help_flag("-h,--help", "Print this text")->group("Output");
  app.add_flag("--supervised", draft.options.supervised)->group("");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return {std::nullopt, with_single_blank_lines(app.help()), kExitFine};
  } catch (const CLI::CallForVersion&) {
    return {std::nullopt, std::string(kVersion) + "\n", kExitFine};
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> unknown = app.remaining();
    return usage_error(unknown.empty() ? sentence_of(error)
                                       : unknown_argument(app, unknown.front()));
  }
  const std::vector<std::string> unknown = app.remaining();
  if (!unknown.empty()) return usage_error(unknown_argument(app, unknown.front()));

  for (const char* name : {"--object-mib", "--stripe-mib", "--store", "--mode", "--scheduler"}) {
    if (build.given(name) && !build.given("--objects")) {
      return usage_error(fmt::format("{} is for --objects", name));
    }
  }
  for (const char* name : {"--blocks", "--layers", "--ranks", "--segments", "--segment-bytes",
                           "--numa-nodes", "--sets", "--layout", "--preset"}) {
    if (build.given(name) && build.given("--objects")) {
      return usage_error(fmt::format("{} is about blocks, it cannot go with --objects", name));
    }
  }
  for (const char* name : {"--trace-capacity-blocks", "--speed", "--abort-rate"}) {
    if (build.given(name) && !build.given("--trace")) {
      return usage_error(fmt::format("{} is for a --trace", name));
    }
  }
  const bool listen_given = build.given("--listen");
  BenchOptions options = complete_options(build, std::move(draft));
  if (listen_given && options.role == Role::kRequester) {
    return usage_error("--listen is for a holder, a requester only takes the holder's ADDR:PORT");
  }
  const auto checked = check_options(options);
  if (!checked.ok()) return usage_error(checked.error().detail());
  return {std::move(options), "", kExitFine};
}

}  // namespace corail::bench
