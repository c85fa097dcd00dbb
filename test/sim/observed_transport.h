#pragma once

#include <asio/io_context.hpp>
#include <map>
#include <memory>

#include "engine/rail/transport.h"
#include "test/sim/rail_observer.h"

namespace corail::sim {

/// Stands between a rail and its transport: tells the observer what is posted and what becomes of
/// it, and holds every call in both directions against the executor that it belongs to (I7).
class ObservedTransport final : public Transport {
 public:
  ObservedTransport(asio::io_context& context, RailObserver& observer, RailRecord& rail,
                    std::unique_ptr<Transport> inner);
  ~ObservedTransport() override;

  Task<Result<void>> connect(RailEndpoint remote, TimePoint deadline) override;
  const Capabilities& capabilities() const noexcept override { return inner_->capabilities(); }
  void post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) override;
  Task<Result<void>> fence(SliceSink& sink, TimePoint deadline) override;
  Task<void> close() override;
  void when_lost(Lost lost) override;
  bool usable() const noexcept override;

 private:
  class ObservedSink;

  ObservedSink& observed(SliceSink& sink);
  void check_executor(const char* what) const;

  asio::io_context& context_;
  RailObserver& observer_;
  RailRecord& rail_;
  std::map<SliceSink*, std::unique_ptr<ObservedSink>> sinks_;
  const std::unique_ptr<Transport> inner_;
};

}  // namespace corail::sim
