#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/post.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/units.h"
#include "engine/rail/rail.h"
#include "test/support/virtual_world.h"

namespace corail::test {

/// A transport that moves nothing: each slice gets the outcome that the test says, a handler later.
/// Its own capabilities; fences find nothing in flight.
class FakeTransport final : public Transport {
 public:
  using Answer = std::function<Result<void>(const Slice&)>;

  FakeTransport(asio::any_io_executor executor, Answer answer, bool needs_keys = false)
      : executor_(std::move(executor)), answer_(std::move(answer)) {
    capabilities_.max_slice_bytes = 32 * kMiB;
    capabilities_.max_slices = 64;
    capabilities_.fence_is_local = true;
    capabilities_.needs_registration = needs_keys;
  }

  Task<Result<void>> connect(RailEndpoint, TimePoint) override { co_return ok_result(); }
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  void post(ReadContext, std::span<const Slice> slices, SliceSink& sink) override {
    for (const Slice& slice : slices) {
      asio::post(executor_, [this, slice, &sink] { sink.on_outcome(slice, answer_(slice)); });
    }
  }
  Task<Result<void>> fence(SliceSink&, TimePoint) override { co_return ok_result(); }
  Task<void> close() override { co_return; }
  bool usable() const noexcept override { return true; }

 private:
  const asio::any_io_executor executor_;
  const Answer answer_;
  Capabilities capabilities_;
};

/// A rail over it, in virtual time. No read may run when it goes.
class FakeRail {
 public:
  FakeRail(VirtualWorld& world, std::string name, FakeTransport::Answer answer,
           bool needs_keys = false)
      : world_(world),
        rail_(std::move(name), world.executor(), world.clock(),
              std::make_unique<FakeTransport>(world.executor(), std::move(answer), needs_keys),
              window()) {
    CORAIL_CHECK(world_.run(rail_.connect(RailEndpoint(), world_.now())), "a fake rail connects");
  }
  ~FakeRail() { CORAIL_CHECK(world_.run(rail_.close()), "a fake rail closes"); }
  FakeRail(const FakeRail&) = delete;
  FakeRail& operator=(const FakeRail&) = delete;

  Rail* get() noexcept { return &rail_; }

 private:
  static RailWindow window() {
    RailWindow window;
    window.bytes = kMiB;
    window.max_slice_bytes = 256 * kKiB;
    return window;
  }

  VirtualWorld& world_;
  Rail rail_;
};

}  // namespace corail::test
