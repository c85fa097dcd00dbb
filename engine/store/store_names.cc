#include "engine/store/store_names.h"

#include <fmt/core.h>

#include <charconv>

#include "engine/base/checksum.h"

namespace corail::detail {
namespace {

constexpr std::string_view kTemporary = ".tmp";
constexpr std::string_view kManifest = ".manifest";
constexpr std::string_view kStripes = ".stripes";
constexpr std::string_view kBad = ".bad";
constexpr std::size_t kHexDigits = 16;

std::string hex(std::uint64_t number) { return fmt::format("{:016x}", number); }

/// The number that these 16 digits, as hex() writes them, mean.
std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number, 16);
  if (error != std::errc() || stopped != end || hex(number) != digits) return std::nullopt;
  return number;
}

/// As manifest_name(): a hash, a dash, a number.
bool is_manifest_stem(std::string_view stem) {
  if (stem.size() < kHexDigits + 2 || stem[kHexDigits] != '-') return false;
  const bool digits = stem.find_first_not_of("0123456789", kHexDigits + 1) == stem.npos;
  return digits && number_of(stem.substr(0, kHexDigits)).has_value();
}

}  // namespace

std::string temporary_name(std::string_view name) { return fmt::format("{}{}", name, kTemporary); }

bool is_temporary(std::string_view name) {
  if (!name.ends_with(kTemporary)) return false;
  name.remove_suffix(kTemporary.size());
  return name == kHeadName || name == kUnfinishedName || is_manifest(name);
}

std::string manifest_name(std::string_view key, std::uint32_t number) {
  return fmt::format("{}-{}{}", hex(xxh3_64(key)), number, kManifest);
}

bool is_manifest(std::string_view name) {
  if (!name.ends_with(kManifest)) return false;
  name.remove_suffix(kManifest.size());
  return is_manifest_stem(name);
}

bool is_manifest_of(std::string_view name, std::string_view key) {
  return is_manifest(name) && name.starts_with(hex(xxh3_64(key)));
}

std::string bad_name(std::string_view manifest, std::uint64_t bound) {
  return fmt::format("{}-{}{}", manifest, hex(bound), kBad);
}

std::optional<std::uint64_t> bound_of_bad(std::string_view name) {
  if (!name.ends_with(kBad)) return std::nullopt;
  name.remove_suffix(kBad.size());
  if (name.size() < kHexDigits + 1 || name[name.size() - kHexDigits - 1] != '-') {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(name.size() - kHexDigits);
  name.remove_suffix(kHexDigits + 1);
  return is_manifest(name) ? number_of(digits) : std::nullopt;
}

std::string stripes_name(ObjectGeneration generation) {
  return fmt::format("{}{}", hex(generation.value()), kStripes);
}

std::optional<ObjectGeneration> generation_of(std::string_view name) {
  if (name.size() != kHexDigits + kStripes.size() || !name.ends_with(kStripes)) return std::nullopt;
  const auto number = number_of(name.substr(0, kHexDigits));
  if (!number) return std::nullopt;
  return ObjectGeneration(*number);
}

}  // namespace corail::detail
