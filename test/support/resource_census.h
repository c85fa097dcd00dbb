#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace corail::test {

/// Open descriptors and threads of this process.
std::size_t open_descriptors();
std::size_t running_threads();

/// What must be back to its number when something has gone wrong and is over: descriptors and
/// threads of the process, and whatever else a test can count, such as pins, chunks and leases. One
/// thread; what the counters refer to must outlive it.
class ResourceCensus {
 public:
  using Counter = std::function<std::uint64_t()>;

  /// Counts descriptors and threads; their numbers are those of now.
  ResourceCensus();

  /// Counts this, too; its number is the one of now.
  void add(std::string name, Counter counter);

  /// The numbers are those of now.
  void take();

  /// What has another number now, in words; empty if nothing has.
  std::string difference() const;

  /// The same, of what stays so while other threads, and the kernel, go on: a thread that was
  /// joined is not gone at once. Waits for a difference to go, for a time that is for leaks, not
  /// for slowness.
  std::string lasting_difference() const;

 private:
  struct Entry {
    std::string name;
    Counter counter;
    std::uint64_t expected = 0;
  };

  std::vector<Entry> entries_;
};

/// Ends the program, saying why, if the census shows a difference when this goes: a member behind
/// what the census counts and before what has to be closed first.
class CensusAtEnd {
 public:
  explicit CensusAtEnd(const ResourceCensus& census) : census_(census) {}
  ~CensusAtEnd();
  CensusAtEnd(const CensusAtEnd&) = delete;
  CensusAtEnd& operator=(const CensusAtEnd&) = delete;

 private:
  const ResourceCensus& census_;
};

}  // namespace corail::test
