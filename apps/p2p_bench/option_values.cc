#include "apps/p2p_bench/option_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "engine/base/units.h"

namespace corail::bench {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// Bytes of a unit; KB and its like are refused because people read them as 1000 or as 1024.
std::optional<std::uint64_t> unit_bytes(std::string_view unit) {
  const std::string name = lower(unit);
  if (name.empty() || name == "b") return 1;
  if (name == "k" || name == "kib") return kKiB;
  if (name == "m" || name == "mib") return kMiB;
  if (name == "g" || name == "gib") return kGiB;
  return std::nullopt;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::uint64_t> parse_whole(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

std::optional<double> parse_decimal(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) {
    return std::nullopt;
  }
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string_view number = text.substr(0, digits);
  std::string_view unit = text.substr(digits);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const auto scale = unit_bytes(unit);
  if (!scale) return std::nullopt;
  if (const auto whole = parse_whole(number)) return checked_mul(*whole, *scale);
  const auto decimal = parse_decimal(number);
  if (!decimal) return std::nullopt;
  const double bytes = *decimal * static_cast<double>(*scale);
  // Doubles above 2^53 have no exact fraction any more; nobody writes such a size with a point.
  if (bytes != std::floor(bytes) || bytes > 0x1p53) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

bool is_address(std::string_view text, bool port_zero) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto port = parse_whole(text.substr(colon + 1));
  if (!port || *port > 65'535 || (*port == 0 && !port_zero)) return false;
  const std::string_view host = text.substr(0, colon);
  const bool bracketed = host.front() == '[' && host.back() == ']' && host.size() > 2;
  const bool has_colon = host.find(':') != std::string_view::npos;
  return bracketed ? has_colon : !has_colon && host.find_first_of("[] ") == std::string_view::npos;
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> items;
  while (true) {
    const std::size_t end = text.find(separator);
    items.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return items;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::string> nearest_name(std::string_view text,
                                        const std::vector<std::string>& names) {
  std::optional<std::string> best;
  // Up to a third of the letters may be wrong; beyond that a suggestion only confuses.
  std::size_t allowed = std::max<std::size_t>(text.size() / 3, 1);
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(text, name);
    if (distance > allowed || (best && distance == allowed)) continue;
    allowed = distance;
    best = name;
  }
  return best;
}

std::string format_bytes(std::uint64_t bytes) {
  struct Unit {
    std::uint64_t bytes;
    const char* name;
  };
  constexpr std::array kUnits = {Unit{kGiB, "GiB"}, Unit{kMiB, "MiB"}, Unit{kKiB, "KiB"}};
  for (const Unit& unit : kUnits) {
    const bool whole = bytes != 0 && bytes % unit.bytes == 0;
    if (whole && bytes / unit.bytes < 10'000) {
      return fmt::format("{} {}", bytes / unit.bytes, unit.name);
    }
  }
  for (const Unit& unit : kUnits) {
    if (bytes < 10 * unit.bytes) continue;
    return fmt::format("{:.1f} {}", static_cast<double>(bytes) / static_cast<double>(unit.bytes),
                       unit.name);
  }
  return fmt::format("{} B", bytes);
}

}  // namespace corail::bench
