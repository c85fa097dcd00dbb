#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/disk/disk_directory.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"

namespace corail::test {

namespace simulated {
struct SimulatedFile;
struct SimulatedFolder;
}  // namespace simulated

/// What becomes of what was not synced when a machine crashes.
enum class CrashLoss {
  kAll,   // nothing of it is left
  kNone,  // everything is
  kSome,  // chance decides for each write, name, and sector of a torn write
  // Only the process ended: all is there, and what was not synced is as uncertain as before, until
  // the machine itself loses power.
  kProcessOnly,
};

/// The disks of one machine, which keep apart what was written and what would survive a crash: a
/// file's bytes and its name are synced each by its own call, as POSIX has it. Every call of a
/// directory or a file is counted and may be made to fail, or to be the last before the crash.
/// Calls may be made to wait, so that those of several operations interleave. Deterministic by
/// seed. One thread.
class SimulatedDisk {
 public:
  explicit SimulatedDisk(std::uint64_t seed) : random_(seed) {}

  /// The directory with this path, always the same one. Must not outlive the disk.
  std::unique_ptr<DiskDirectory> directory(const std::string& path);

  /// Calls of directories and files so far.
  std::uint64_t calls() const noexcept { return calls_; }
  /// The machine crashes within this call, counted from 1 since the disk was made: the call takes
  /// effect or not, as chance decides, and it and all later ones fail.
  void crash_at(std::uint64_t call) noexcept { crash_at_ = call; }
  bool crashed() const noexcept { return crashed_; }
  /// The machine crashes now, if it has not, and is on again: what was lost is gone.
  void restart(CrashLoss loss);

  /// This call fails with kStoreFailed; it takes effect or not, as chance decides. A failed sync
  /// may have dropped what was written, as the page cache does. 0: none fails.
  void fail_at(std::uint64_t call) noexcept { fail_at_ = call; }
  /// Bytes that all files together may have; writes beyond are cut off, with kStoreFull.
  void set_capacity(std::uint64_t bytes) noexcept { capacity_ = bytes; }

  /// Calls whose text ("fsync /disk0/NAME", "rename /disk0/FROM to TO") has this part wait from now
  /// on, before they take effect, until let_go().
  void hold(std::string part) { held_part_ = std::move(part); }
  void let_go();
  /// How many calls wait.
  std::size_t holding() const noexcept { return waiting_.size(); }
  /// Before each call others get up to so many turns of the executor, as chance decides.
  void take_turns(std::uint32_t most) noexcept { most_turns_ = most; }

  /// Names in a directory, sorted, and a file's bytes to look at or to corrupt; null: no such file.
  std::vector<std::string> names(const std::string& path) const;
  std::vector<std::byte>* content(const std::string& path, const std::string& name);

 private:
  friend class SimulatedDirectory;
  friend class SimulatedDiskFile;

  /// How one call is to end.
  struct Fate {
    bool takes_effect = true;
    std::optional<Error> error;
  };
  Task<Fate> next_call(std::string what);
  Fate decide(const std::string& what);
  bool chance() { return random_.below(2) == 0; }
  std::uint64_t used() const;

  SeededRandom random_;
  std::uint64_t calls_ = 0;
  std::uint64_t crash_at_ = 0;
  std::uint64_t fail_at_ = 0;
  std::uint64_t capacity_ = ~std::uint64_t{0};
  bool crashed_ = false;
  std::optional<std::string> held_part_;
  std::vector<std::shared_ptr<Event>> waiting_;
  std::uint32_t most_turns_ = 0;
  std::map<std::string, std::shared_ptr<simulated::SimulatedFolder>> folders_;
};

}  // namespace corail::test
