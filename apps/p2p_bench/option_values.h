#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace corail::bench {

/// "4096", "4KiB", "1.5 MiB", "2G": bytes; suffixes are powers of 1024 in any case. Nothing when it
/// is no such size, is no whole number of bytes, or overflows.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

/// A whole decimal number without sign that fits in 64 bits.
std::optional<std::uint64_t> parse_whole(std::string_view text);

/// A finite decimal number that is not negative.
std::optional<double> parse_decimal(std::string_view text);

/// "10.0.0.2:7700", "host:7700" or "[::1]:7700"; the port may be 0 only when `port_zero`.
bool is_address(std::string_view text, bool port_zero);

std::vector<std::string> split_list(std::string_view text, char separator);

/// The name that was probably meant, or nothing when none is near.
std::optional<std::string> nearest_name(std::string_view text,
                                        const std::vector<std::string>& names);

/// "4 KiB", "2250 MiB", "37 B": exact where a unit makes it short, else one decimal.
std::string format_bytes(std::uint64_t bytes);

}  // namespace corail::bench
