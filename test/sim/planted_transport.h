#pragma once

#include <asio/any_io_executor.hpp>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "engine/exec/event.h"
#include "engine/rail/transport.h"
#include "test/sim/plants.h"

namespace corail::sim {

/// What a planted transport needs to know to do its harm.
struct PlantSite {
  Plant plant = Plant::kNone;
  asio::any_io_executor own;   // the rail's
  asio::any_io_executor home;  // the node's
  /// Bytes of a region of the holder, 0 for an unknown one.
  std::function<std::uint64_t(RegionId)> region_bytes;
};

/// Whether the plant sits above what the model observes, as a bug of the rail's side would, or
/// below it, as a bug of the transport would.
bool sits_above(Plant plant);
bool sits_below(Plant plant);

/// A transport with a planted bug.
class PlantedTransport final : public Transport {
 public:
  PlantedTransport(PlantSite site, std::unique_ptr<Transport> inner);
  ~PlantedTransport() override;

  Task<Result<void>> connect(RailEndpoint remote, TimePoint deadline) override;
  const Capabilities& capabilities() const noexcept override { return inner_->capabilities(); }
  void post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) override;
  Task<Result<void>> fence(SliceSink& sink, TimePoint deadline) override;
  Task<void> close() override;
  void when_lost(Lost lost) override { inner_->when_lost(std::move(lost)); }
  bool usable() const noexcept override { return inner_->usable(); }

 private:
  class PlantedSink;

  PlantedSink& planted(SliceSink& sink);
  void spoil(Slice& slice);

  const PlantSite site_;
  std::map<SliceSink*, std::unique_ptr<PlantedSink>> sinks_;
  std::unique_ptr<SliceSink> nobody_;  // of slices that were posted once more
  std::uint64_t posted_ = 0;
  std::deque<Event> never_;  // one for each fence that waits
  const std::unique_ptr<Transport> inner_;
};

}  // namespace corail::sim
