#include "test/support/resource_census.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <thread>
#include <utility>

#include "engine/base/check.h"

namespace corail::test {
namespace {

constexpr std::chrono::seconds kPatience(20);

std::size_t entries_of(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

std::size_t open_descriptors() { return entries_of("/proc/self/fd"); }

std::size_t running_threads() { return entries_of("/proc/self/task"); }

ResourceCensus::ResourceCensus() {
  // A sanitizer starts a thread of its own with the first one of the program, and keeps it.
  [[maybe_unused]] static const bool first_thread = [] {
    std::thread([] {}).join();
    return true;
  }();
  add("descriptors", [] { return open_descriptors(); });
  add("threads", [] { return running_threads(); });
}

void ResourceCensus::add(std::string name, Counter counter) {
  Entry entry;
  entry.name = std::move(name);
  entry.expected = counter();
  entry.counter = std::move(counter);
  entries_.push_back(std::move(entry));
}

void ResourceCensus::take() {
  for (Entry& entry : entries_) entry.expected = entry.counter();
}

std::string ResourceCensus::difference() const {
  std::string words;
  for (const Entry& entry : entries_) {
    const std::uint64_t now = entry.counter();
    if (now == entry.expected) continue;
    words += fmt::format("{}{} {}, there were {}", words.empty() ? "" : "; ", now, entry.name,
                         entry.expected);
  }
  return words;
}

std::string ResourceCensus::lasting_difference() const {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::string words = difference();
  while (!words.empty() && std::chrono::steady_clock::now() < until) {
    std::this_thread::yield();
    words = difference();
  }
  return words;
}

CensusAtEnd::~CensusAtEnd() {
  // A test that has failed already says more than what it has left behind.
  if (std::uncaught_exceptions() > 0) return;
  const std::string words = census_.lasting_difference();
  if (words.empty()) return;
  std::fprintf(stderr, "left over: %s\n", words.c_str());
  CORAIL_CHECK(words.empty(), "whatever a test has used is given back");
}

}  // namespace corail::test
