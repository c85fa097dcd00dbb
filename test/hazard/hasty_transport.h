#pragma once

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/rail/transport.h"

namespace corail::test {

/// A transport without the guard: what it says of a fence is what a caller would like to hear. The
/// slices are told to have ended, and the transport below, which hears nothing of it, goes on
/// writing where it was told to.
class HastyTransport final : public Transport {
 public:
  explicit HastyTransport(std::unique_ptr<Transport> inner);
  ~HastyTransport() override;

  Task<Result<void>> connect(RailEndpoint remote, TimePoint deadline) override {
    return inner_->connect(std::move(remote), deadline);
  }
  const Capabilities& capabilities() const noexcept override { return inner_->capabilities(); }
  void post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) override;
  Task<Result<void>> fence(SliceSink& sink, TimePoint deadline) override;
  Task<void> close() override { return inner_->close(); }
  bool usable() const noexcept override { return inner_->usable(); }

 private:
  class Ear;

  std::map<SliceSink*, std::unique_ptr<Ear>> ears_;
  std::vector<std::unique_ptr<Ear>> deaf_;  // of fenced sinks; the transport below still uses them
  const std::unique_ptr<Transport> inner_;
};

}  // namespace corail::test
