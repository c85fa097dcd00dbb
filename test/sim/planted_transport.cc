#include "test/sim/planted_transport.h"

#include <asio/post.hpp>
#include <utility>
#include <vector>

namespace corail::sim {
namespace {

/// Every how many slices a plant does its harm.
constexpr std::uint64_t kEvery = 5;

class Nobody final : public SliceSink {
 public:
  void on_landed(const Slice&, std::uint64_t, std::uint64_t) noexcept override {}
  void on_outcome(const Slice&, Result<void>) noexcept override {}
};

}  // namespace

bool sits_above(Plant plant) {
  return plant == Plant::kPostTwice || plant == Plant::kStraddle || plant == Plant::kEarlyOutcome ||
         plant == Plant::kDeafFence;
}

bool sits_below(Plant plant) { return plant == Plant::kWrongExecutor; }

class PlantedTransport::PlantedSink final : public SliceSink {
 public:
  PlantedSink(const PlantSite& site, SliceSink& sink) : site_(site), sink_(sink) {}

  void posted(const Slice& slice) { in_flight_[slice.tag] = slice; }

  /// The bug: says that everything has ended.
  void end_all_early() {
    const auto ended = std::exchange(in_flight_, {});
    for (const auto& [tag, slice] : ended) {
      sink_.on_outcome(slice, Error(Errc::kFlushed, "ended too early, on purpose"));
    }
  }

  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override {
    if (in_flight_.contains(slice.tag)) sink_.on_landed(slice, from, to);
  }

  void on_receipt(const Slice& slice, const PushReceipt& receipt) noexcept override {
    if (in_flight_.contains(slice.tag)) sink_.on_receipt(slice, receipt);
  }

  void on_outcome(const Slice& slice, Result<void> outcome) noexcept override {
    if (in_flight_.erase(slice.tag) == 0) return;
    if (site_.plant != Plant::kWrongExecutor) return sink_.on_outcome(slice, std::move(outcome));
    asio::post(site_.home,
               [this, slice, outcome = std::move(outcome)] { sink_.on_outcome(slice, outcome); });
  }

 private:
  const PlantSite& site_;
  SliceSink& sink_;
  std::map<std::uint64_t, Slice> in_flight_;  // by tag
};

PlantedTransport::PlantedTransport(PlantSite site, std::unique_ptr<Transport> inner)
    : site_(std::move(site)), nobody_(std::make_unique<Nobody>()), inner_(std::move(inner)) {}

PlantedTransport::~PlantedTransport() = default;

PlantedTransport::PlantedSink& PlantedTransport::planted(SliceSink& sink) {
  auto& entry = sinks_[&sink];
  if (!entry) entry = std::make_unique<PlantedSink>(site_, sink);
  return *entry;
}

Task<Result<void>> PlantedTransport::connect(RailEndpoint remote, TimePoint deadline) {
  auto connected = co_await inner_->connect(std::move(remote), deadline);
  co_return connected;
}

void PlantedTransport::spoil(Slice& slice) {
  const std::uint64_t region = site_.region_bytes(slice.region);
  if (site_.plant != Plant::kStraddle || region == 0 || slice.length < 2) return;
  slice.remote_offset = region - slice.length / 2;
}

void PlantedTransport::post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) {
  PlantedSink& through = planted(sink);
  for (Slice slice : slices) {
    const bool harm = ++posted_ % kEvery == 0;
    if (harm) spoil(slice);
    through.posted(slice);
    inner_->post(context, std::span(&slice, 1), through);
    if (harm && site_.plant == Plant::kPostTwice) {
      inner_->post(context, std::span(&slice, 1), *nobody_);
    }
  }
}

Task<Result<void>> PlantedTransport::fence(SliceSink& sink, TimePoint deadline) {
  if (site_.plant == Plant::kDeafFence) {
    Event& never = never_.emplace_back(site_.own);
    co_await never.wait();
  }
  if (site_.plant == Plant::kEarlyOutcome) {
    planted(sink).end_all_early();
    co_return ok_result();
  }
  PlantedSink& through = planted(sink);
  auto fenced = co_await inner_->fence(through, deadline);
  co_return fenced;
}

Task<void> PlantedTransport::close() { co_await inner_->close(); }

}  // namespace corail::sim
