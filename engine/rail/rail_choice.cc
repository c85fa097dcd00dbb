#include "engine/rail/rail_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/verbs/device.h"
#include "engine/verbs/verbs_api.h"

namespace corail {
namespace {

constexpr std::string_view kVerbs = "verbs:";

bool names_transport(std::string_view item) noexcept {
  return item.starts_with("tcp:") || item.starts_with(kVerbs) || item.starts_with("mock:");
}

Result<VerbsChoice::Name> parse_name(std::string_view text) {
  auto spec = parse_rail_spec(fmt::format("{}{}", kVerbs, text));
  if (!spec.ok()) return std::move(spec).error();
  const auto& named = std::get<VerbsRailSpec>(*spec);
  VerbsChoice::Name name;
  name.device = named.device;
  name.gid = named.gid;
  // A port that is not written is the first one of a name, but any of a pattern.
  if (text.find(':') != std::string_view::npos) name.port = named.port;
  return name;
}

Result<VerbsChoice> parse_verbs_list(std::span<const std::string> items) {
  VerbsChoice choice;
  std::string_view first = items.front();
  first.remove_prefix(kVerbs.size());
  choice.all_but = first.starts_with('^');
  if (choice.all_but) first.remove_prefix(1);
  choice.exact = first.starts_with('=');
  if (choice.exact) first.remove_prefix(1);
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto name = parse_name(i == 0 ? first : std::string_view(items[i]));
    if (!name.ok()) return std::move(name).error();
    if (choice.all_but && name->gid) {
      return Error(
          Errc::kInvalidArgument, Stage::kSetup,
          fmt::format("'{}' is in a list of what is left out, where a GID has no use", items[i]));
    }
    choice.names.push_back(std::move(*name));
  }
  return choice;
}

std::string list_of(std::span<const DevicePort> ports) {
  std::string list;
  for (const DevicePort& port : ports) {
    list += fmt::format("{}{}:{}{}", list.empty() ? "" : ", ", port.device, port.port,
                        port.active ? "" : " (down)");
  }
  return list.empty() ? "none" : list;
}

bool is_device(std::string_view name, std::span<const DevicePort> ports) noexcept {
  return std::any_of(ports.begin(), ports.end(),
                     [name](const DevicePort& port) { return port.device == name; });
}

/// Chooses the ports of one list.
class Selection {
 public:
  Selection(const VerbsChoice& choice, std::span<const DevicePort> ports)
      : choice_(choice), ports_(ports) {}

  Result<std::vector<RailSpec>> run() && {
    if (choice_.all_but) {
      take_rest();
    } else {
      for (const VerbsChoice::Name& name : choice_.names) {
        const std::size_t before = chosen_.size() + repeated_;
        take(name);
        if (chosen_.size() + repeated_ == before) return nothing(name.device);
      }
    }
    if (chosen_.empty()) return nothing("^" + choice_.names.front().device);
    return std::vector<RailSpec>(chosen_.begin(), chosen_.end());
  }

 private:
  bool means_device(const VerbsChoice::Name& name) const noexcept {
    return choice_.exact || is_device(name.device, ports_);
  }

  bool matches(const VerbsChoice::Name& name, const DevicePort& port) const noexcept {
    const bool named =
        means_device(name) ? port.device == name.device : port.device.starts_with(name.device);
    return named && (!name.port || *name.port == port.port);
  }

  void take(const VerbsChoice::Name& name) {
    for (const DevicePort& port : ports_) {
      if (!matches(name, port)) continue;
      const bool wanted = name.port || (means_device(name) ? port.port == 1 : port.active);
      if (wanted) add(port, name.gid);
    }
  }

  void take_rest() {
    for (const DevicePort& port : ports_) {
      const bool left_out =
          std::any_of(choice_.names.begin(), choice_.names.end(),
                      [this, &port](const auto& name) { return matches(name, port); });
      if (!left_out && port.active) add(port, std::nullopt);
    }
  }

  void add(const DevicePort& port, std::optional<std::uint8_t> gid) {
    const bool known = std::any_of(chosen_.begin(), chosen_.end(), [&port](const auto& spec) {
      return spec.device == port.device && spec.port == port.port;
    });
    if (known) {
      ++repeated_;
      return;
    }
    VerbsRailSpec spec;
    spec.device = port.device;
    spec.port = port.port;
    spec.gid = gid;
    chosen_.push_back(std::move(spec));
  }

  Error nothing(std::string_view what) const {
    return Error(Errc::kUnknownName, Stage::kSetup,
                 fmt::format("'verbs:{}{}' means no port of an RDMA device that is active; this "
                             "machine has {}",
                             choice_.exact && !choice_.all_but ? "=" : "", what, list_of(ports_)));
  }

  const VerbsChoice& choice_;
  const std::span<const DevicePort> ports_;
  std::vector<VerbsRailSpec> chosen_;
  std::size_t repeated_ = 0;
};

/// A list of one plain name that is no beginning of another is a spec by itself.
std::optional<RailSpec> as_spec(const VerbsChoice& choice, std::span<const DevicePort> ports) {
  if (choice.exact || choice.all_but || choice.names.size() != 1) return std::nullopt;
  const VerbsChoice::Name& name = choice.names.front();
  const bool begins = std::any_of(ports.begin(), ports.end(), [&name](const DevicePort& port) {
    return port.device.starts_with(name.device);
  });
  if (begins && !is_device(name.device, ports)) return std::nullopt;
  VerbsRailSpec spec;
  spec.device = name.device;
  spec.port = name.port.value_or(1);
  spec.gid = name.gid;
  return RailSpec(std::move(spec));
}

}  // namespace

Result<std::vector<RailChoice>> parse_rail_choices(std::span<const std::string> items) {
  std::vector<RailChoice> choices;
  for (std::size_t i = 0; i < items.size();) {
    if (!items[i].starts_with(kVerbs)) {
      auto spec = parse_rail_spec(items[i]);
      if (!spec.ok()) return std::move(spec).error();
      choices.emplace_back(std::move(*spec));
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < items.size() && !names_transport(items[end])) ++end;
    auto list = parse_verbs_list(items.subspan(i, end - i));
    if (!list.ok()) return std::move(list).error();
    choices.emplace_back(std::move(*list));
    i = end;
  }
  return choices;
}

Result<std::vector<RailSpec>> choose_rails(std::span<const RailChoice> choices,
                                           std::span<const DevicePort> ports) {
  std::vector<RailSpec> specs;
  for (const RailChoice& choice : choices) {
    if (const auto* spec = std::get_if<RailSpec>(&choice)) {
      specs.push_back(*spec);
      continue;
    }
    const auto& list = std::get<VerbsChoice>(choice);
    if (auto spec = as_spec(list, ports)) {
      specs.push_back(std::move(*spec));
      continue;
    }
    auto chosen = Selection(list, ports).run();
    if (!chosen.ok()) return std::move(chosen).error();
    specs.insert(specs.end(), chosen->begin(), chosen->end());
  }
  return specs;
}

std::vector<DevicePort> machine_ports(std::span<const RailChoice> choices) {
  std::vector<DevicePort> ports;
  const bool needed = std::any_of(choices.begin(), choices.end(), [](const RailChoice& choice) {
    return std::holds_alternative<VerbsChoice>(choice);
  });
  if (!needed) return ports;
  for (const std::string& name : device_names(system_verbs())) {
    const auto device = Device::open(system_verbs(), name);
    if (!device.ok()) continue;
    for (std::uint32_t number = 1; number <= (*device)->limits().ports; ++number) {
      DevicePort port;
      port.device = name;
      port.port = static_cast<std::uint8_t>(number);
      const auto facts = (*device)->port(port.port);
      port.active = facts.ok() && facts->active;
      ports.push_back(std::move(port));
    }
  }
  return ports;
}

}  // namespace corail
