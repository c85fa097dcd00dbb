#pragma once

#include <dirent.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>

#include "engine/base/error.h"
#include "engine/base/result.h"

namespace corail::test {

inline std::size_t open_descriptors() {
  DIR* directory = ::opendir("/proc/self/fd");
  std::size_t count = 0;
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

inline std::string describe(const Error& error) { return error.to_string(); }

template <typename T>
std::string describe(const Result<T>& result) {
  return result.ok() ? "success" : result.error().to_string();
}

/// Whether the condition came true while other threads went on; false after a time that is for
/// hangs, not for slowness.
template <typename Condition>
bool comes_true(Condition condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace corail::test
