#include "bench/rail_sweep/sweep_rig.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <chrono>
#include <cstddef>
#include <thread>
#include <utility>

#include "engine/base/check.h"
#include "engine/rail/mock/mock_transport.h"
#include "engine/rail/retire.h"
#include "engine/read/read_session.h"

namespace corail::bench {
namespace {

constexpr Duration kReadTime = std::chrono::minutes(10);
constexpr Duration kConnectTime = std::chrono::seconds(30);
constexpr Duration kFenceDeadline = std::chrono::seconds(2);

/// The object's memory never changes, so its owner always agrees.
class Agreeing final : public Owner {
 public:
  Task<Result<void>> confirm_and_release(ReadId, TimePoint, CancelToken) override {
    co_return ok_result();
  }
  Task<Result<void>> confirm(ReadId, TimePoint, CancelToken) override { co_return ok_result(); }
  Task<Result<void>> release(ReadId, TimePoint) override { co_return ok_result(); }
};

/// Slabs as large as a plan's chunks may be.
SlabPoolOptions pool_options() {
  SlabPoolOptions options;
  options.slab_bytes = PlanLimits().max_chunk_bytes;
  options.capacity_bytes = PlanLimits().max_total_bytes;
  return options;
}

}  // namespace

SweepRig::SweepRig(SweepObject& object, std::span<const LinkModel> links, SweepReads reads)
    : object_(object), reads_(reads), pool_(pool_options()) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < std::min(links.size(), cores); ++i) {
    ports_.push_back(std::make_unique<Executor>(fmt::format("port{}", i)));
    ports_.back()->start();
  }
  home_.start();
  for (std::size_t i = 0; i < links.size(); ++i) {
    MockOptions options;
    options.link = links[i];
    options.shared_fence = false;
    randoms_.push_back(std::make_unique<SeededRandom>(i + 1));
    const asio::any_io_executor executor = ports_[i % ports_.size()]->asio_executor();
    auto transport = std::make_unique<MockTransport>(executor, clock_, *randoms_[i], net_, options,
                                                     FaultScript());
    RailWindow window;
    window.bytes = reads_.window_bytes;
    window.max_slice_bytes = reads_.max_read_bytes;
    rails_.push_back(
        std::make_unique<Rail>(fmt::format("mock{}:{}", i, format_link_model(links[i])), executor,
                               clock_, std::move(transport), window));
  }
}

SweepRig::~SweepRig() {
  for (auto& rail : rails_) {
    const asio::any_io_executor executor = rail->executor();
    const auto retired = asio::co_spawn(executor, retire(std::move(rail)), asio::use_future).get();
    CORAIL_CHECK(retired, "a modelled device without faults closes");
  }
  home_.stop();
  for (const auto& port : ports_) port->stop();
}

Result<void> SweepRig::open() {
  auto opened = holder_.open();
  if (!opened) return opened;
  const RailEndpoint endpoint = holder_.admit_session(SessionId(1), ChannelToken{}, object_);
  for (const auto& rail : rails_) {
    auto connected =
        asio::co_spawn(rail->executor(), rail->connect(endpoint, clock_.now() + kConnectTime),
                       asio::use_future)
            .get();
    if (!connected) return connected;
  }
  return ok_result();
}

/// A read that is about to begin gets the memory of the one before, which has its bytes already.
void SweepRig::spoil_destination() {
  const auto plan = object_.plan(reads_.max_read_bytes);
  if (!plan) return;
  std::vector<SlabChunk> chunks;
  for (const ChunkSpec& spec : plan->chunks()) {
    auto chunk = pool_.allocate(spec.bytes, spec.numa_node);
    if (!chunk) return;
    std::ranges::fill(chunk->bytes(), std::byte{0xEE});
    chunks.push_back(std::move(*chunk));
  }
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<SweepRead>> SweepRig::read_on_home() {
  if (reads_.verify) spoil_destination();
  SweepRead done;
  const TimePoint begin = clock_.now();
  auto planned = object_.plan(reads_.max_read_bytes);
  if (!planned) co_return std::move(planned).error();
  const auto plan = std::make_shared<const ObjectPlan>(std::move(*planned));
  ReadRequest request;
  request.read = ReadId(next_read_++);
  request.plan = plan;
  for (const ChunkSpec& spec : plan->chunks()) {
    auto chunk = pool_.allocate(spec.bytes, spec.numa_node);
    if (!chunk) co_return std::move(chunk).error();
    request.chunks.push_back(std::move(*chunk));
  }
  for (const auto& rail : rails_) request.rails.push_back(rail.get());
  request.max_slice_bytes = reads_.max_read_bytes;
  if (reads_.verify) request.expectation = ObjectExpectation();
  request.deadline = begin + kReadTime;
  request.fence_deadline = kFenceDeadline;
  const std::vector<SlabChunk> chunks = request.chunks;
  done.report.stages.plan = clock_.now() - begin;
  Agreeing owner;
  ReadSession session(home_.asio_executor(), clock_, owner, std::move(request));
  auto result = co_await session.run(done.report);
  done.seconds = std::chrono::duration<double>(clock_.now() - begin).count();
  if (result && reads_.verify) result = check_content(*plan, chunks);
  if (!result) co_return std::move(result).error();
  co_return done;
}

#pragma GCC diagnostic pop

Result<void> SweepRig::check_content(const ObjectPlan& plan,
                                     std::span<const SlabChunk> chunks) const {
  bool right = true;
  plan.for_each_copy(0, plan.total_bytes(), [&](const ReadPlan::CopyPiece& piece) {
    const auto bytes = chunks[piece.chunk].bytes().subspan(piece.chunk_offset, piece.length);
    right = right && object_.has_at(piece.copy_offset, bytes);
  });
  if (right) return ok_result();
  return Error(Errc::kChecksumMismatch, "the read was verified, and has wrong bytes all the same");
}

Result<SweepRead> SweepRig::read() {
  return asio::co_spawn(home_.asio_executor(), read_on_home(), asio::use_future).get();
}

}  // namespace corail::bench
