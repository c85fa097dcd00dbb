#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace corail {

/// Bytes that are read of a file that the kernel writes, at most (I8).
inline constexpr std::size_t kMaxSmallFile = 64 * 1024;

/// The text of a file under /sys or /proc, without white space at its end; nothing where there is
/// no such file or it cannot be read. Any thread; may block as any reading of such a file.
std::optional<std::string> read_small_file(const std::string& path);

/// The same as a whole number, with a sign where it has one; nothing where it is none.
std::optional<std::int64_t> read_number(const std::string& path);

/// The names in a folder, sorted; empty where there is none.
std::vector<std::string> list_folder(const std::string& path);

}  // namespace corail
