#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "test/disk/simulated_disk.h"

// The state behind a SimulatedDisk.
namespace corail::test::simulated {

/// A file: what a reader sees, what would survive, and the writes between the two.
struct SimulatedFile {
  struct Write {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
  };

  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  void sync();
  void forget_pending() { pending.clear(); }
  void crash(CrashLoss loss, Random& random);

  std::vector<std::byte> content;
  std::vector<std::byte> durable;
  std::vector<Write> pending;
};

/// A directory, in the same way: names, and what was done to them since the last sync.
struct SimulatedFolder {
  using Names = std::map<std::string, std::shared_ptr<SimulatedFile>>;
  /// A name goes, another one comes; each may be empty. Survives a crash as a whole, or not.
  struct Change {
    std::string gone;
    std::string come;
    std::shared_ptr<SimulatedFile> file;
  };

  void put(const std::string& name, std::shared_ptr<SimulatedFile> file) {
    change({"", name, std::move(file)});
  }
  void rename(const std::string& from, const std::string& to) { change({from, to, names[from]}); }
  void remove(const std::string& name) { change({name, "", nullptr}); }
  void sync();
  void crash(CrashLoss loss, Random& random);

  void change(Change made);
  static void apply(const Change& change, Names& to);

  Names names;
  Names durable;
  std::vector<Change> pending;
};

}  // namespace corail::test::simulated
