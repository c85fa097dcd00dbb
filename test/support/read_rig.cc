#include "test/support/read_rig.h"

#include <fmt/core.h>

#include <utility>

#include "engine/base/check.h"

namespace corail::test {

RigRead::RigRead(asio::any_io_executor home, Clock& clock, ScriptedOwner& owner, BlockRange range,
                 ReadRequest request)
    : clock_(clock),
      owner_(owner),
      id_(request.read),
      range_(range),
      plan_(std::dynamic_pointer_cast<const BlockPlan>(request.plan)),
      chunks_(request.chunks),
      session_(std::move(home), clock, owner, std::move(request)) {}

Task<Result<void>> RigRead::run() {
  owner_.lease(id_);
  auto result = co_await session_.run(report_);
  ended_ = clock_.now();
  if (!result) {
    for (const SlabChunk& chunk : chunks_) canaries_.emplace_back(chunk.bytes(), 0xC0FFEE);
  }
  co_return result;
}

std::optional<std::string> RigRead::difference_to(const HeldBlocks& held) const {
  std::vector<std::byte*> bases;
  for (const SlabChunk& chunk : chunks_) bases.push_back(chunk.bytes().data());
  return difference(held, range_, *plan_, bases);
}

std::uint64_t RigRead::late_bytes() const {
  std::uint64_t late = 0;
  for (const Canary& canary : canaries_) late += canary.changed_bytes();
  return late;
}

namespace {

SlabPoolOptions pool_options() {
  SlabPoolOptions options;
  options.slab_bytes = 64 * kMiB;
  return options;
}

}  // namespace

ReadRig::ReadRig(const HeldShape& shape, std::vector<RailPlan> plans, std::uint64_t seed)
    : held(shape, seed),
      owner(world.executor(), world.clock()),
      pool(pool_options()),
      rails(world, held, std::move(plans), seed) {
  census.add("pins", [this] { return held.pins(); });
  census.add("leases", [this] { return owner.leases(); });
  census.add("bytes of chunks that are not in quarantine",
             [this] { return pool.outstanding_bytes() - pool.quarantined_bytes(); });
  limits.max_read_bytes = 256 * kKiB;
  limits.max_chunk_bytes = 2 * kMiB;
}

ReadRequest ReadRig::request(BlockRange range) {
  ReadRequest request;
  request.read = ReadId(next_read_++);
  request.plan = held.plan(range, limits);
  for (const ChunkSpec& spec : request.plan->chunks()) {
    auto chunk = pool.allocate(spec.bytes, spec.numa_node);
    CORAIL_CHECK(chunk, "the test's pool is large enough");
    request.chunks.push_back(std::move(*chunk));
  }
  request.rails = rails.rails();
  request.max_slice_bytes = limits.max_read_bytes;
  request.expectation = held.expectation(range);
  request.deadline = world.now() + std::chrono::minutes(1);
  request.fence_deadline = std::chrono::milliseconds(500);
  return request;
}

std::unique_ptr<RigRead> ReadRig::make(BlockRange range, ReadRequest request) {
  return std::make_unique<RigRead>(world.executor(), world.clock(), owner, range,
                                   std::move(request));
}

std::optional<std::string> ReadRig::complaint(const RigRead& read, const Result<void>& result) {
  if (result.ok() != (read.phase() == ReadPhase::kCommitted)) {
    return "the result and the read's phase disagree";
  }
  world.run_until_idle();
  if (read.late_bytes() > 0) {
    return fmt::format("{} bytes were written after the read had ended", read.late_bytes());
  }
  if (held.pins() > 0) return fmt::format("{} pins are left at the holder", held.pins());
  if (!result) return std::nullopt;
  return read.difference_to(held);
}

std::string text_of(const Result<void>& result) {
  return result.ok() ? "success" : result.error().to_string();
}

}  // namespace corail::test
