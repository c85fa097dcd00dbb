#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bench/rail_sweep/sweep_object.h"
#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/exec/executor.h"
#include "engine/memory/slab_pool.h"
#include "engine/rail/mock/mock_holder.h"
#include "engine/rail/mock/mock_link.h"
#include "engine/rail/rail.h"
#include "engine/read/read_report.h"

namespace corail::bench {

/// How the sweep reads. Sizes in bytes.
struct SweepReads {
  std::uint64_t max_read_bytes = 0;
  std::uint64_t window_bytes = 0;  // of a rail
  bool verify = true;
};

/// What one read did.
struct SweepRead {
  double seconds = 0;  // from before it is planned until it is committed
  ReadReport report;
};

/// Mock rails in real time between an object and a destination of this process, one for each link:
/// as many threads as rails, at most one for each core, and one for home. Used by one thread.
class SweepRig {
 public:
  SweepRig(SweepObject& object, std::span<const LinkModel> links, SweepReads reads);
  ~SweepRig();
  SweepRig(const SweepRig&) = delete;
  SweepRig& operator=(const SweepRig&) = delete;

  /// Connects the rails. Once, first.
  Result<void> open();
  /// Reads the whole object once, and compares what it got where reads are verified. Fails as reads
  /// do, and with kChecksumMismatch where a byte is wrong that no checksum has found.
  Result<SweepRead> read();

 private:
  void spoil_destination();
  Task<Result<SweepRead>> read_on_home();
  Result<void> check_content(const ObjectPlan& plan, std::span<const SlabChunk> chunks) const;

  SweepObject& object_;
  const SweepReads reads_;
  SteadyClock clock_;
  SlabPool pool_;
  MockNet net_;
  MockHolder holder_{net_, "holder"};
  Executor home_{"home"};
  std::vector<std::unique_ptr<Executor>> ports_;
  std::vector<std::unique_ptr<SeededRandom>> randoms_;
  std::vector<std::unique_ptr<Rail>> rails_;
  std::uint64_t next_read_ = 1;
};

}  // namespace corail::bench
