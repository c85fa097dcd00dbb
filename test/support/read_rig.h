#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/memory/slab_pool.h"
#include "engine/read/read_session.h"
#include "test/support/canary.h"
#include "test/support/held_blocks.h"
#include "test/support/mock_rails.h"
#include "test/support/resource_census.h"
#include "test/support/scripted_owner.h"
#include "test/support/virtual_world.h"

namespace corail::test {

/// One read of a test, with the destination it was given. Whoever ends it without a commit becomes
/// the destination's next owner, in the very handler in which run() returned: canaries are set.
class RigRead {
 public:
  RigRead(asio::any_io_executor home, Clock& clock, ScriptedOwner& owner, BlockRange range,
          ReadRequest request);

  Task<Result<void>> run();

  const ReadReport& report() const noexcept { return report_; }
  ReadPhase phase() const noexcept { return session_.phase(); }
  TimePoint ended() const noexcept { return ended_; }
  /// How the destination differs from what the holder has, in words; nothing if it does not.
  std::optional<std::string> difference_to(const HeldBlocks& held) const;
  /// Bytes that somebody wrote after run() had returned without a commit (I1).
  std::uint64_t late_bytes() const;

 private:
  Clock& clock_;
  ScriptedOwner& owner_;
  const ReadId id_;
  const BlockRange range_;
  const std::shared_ptr<const BlockPlan> plan_;
  const std::vector<SlabChunk> chunks_;
  std::vector<Canary> canaries_;
  ReadReport report_;
  ReadSession session_;
  TimePoint ended_{};
};

/// Everything that reads need, in virtual time: a holder, mock rails to it, an owner that does as
/// it is told, and memory. When it goes, its reads before it, everything that they have used must
/// have been given back, whatever became of them: pins, chunks, leases, descriptors, threads.
class ReadRig {
 public:
  ReadRig(const HeldShape& shape, std::vector<RailPlan> rails, std::uint64_t seed);

  ResourceCensus census;
  VirtualWorld world;
  HeldBlocks held;
  ScriptedOwner owner;
  SlabPool pool;
  CensusAtEnd census_at_end{census};
  MockRails rails;  // closed before the census
  PlanLimits limits;

  /// A request for these blocks; verified, over all rails, with a minute's time.
  ReadRequest request(BlockRange range);
  ReadRequest request() { return request(held.all()); }

  std::unique_ptr<RigRead> make(BlockRange range, ReadRequest request);
  std::unique_ptr<RigRead> make(ReadRequest request) {
    return make(held.all(), std::move(request));
  }

  /// Runs to the end of the read, and no further.
  Result<void> finish(RigRead& read) { return world.run(read.run()); }

  /// What is wrong with a read that ended so, in words, after everything late has happened; nothing
  /// if it was handed over byte for byte, or not at all and nothing was written later.
  std::optional<std::string> complaint(const RigRead& read, const Result<void>& result);

 private:
  std::uint64_t next_read_ = 1;
};

/// For messages.
std::string text_of(const Result<void>& result);

}  // namespace corail::test
