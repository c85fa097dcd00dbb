#include "test/sim/sim_device.h"

#include <asio/post.hpp>
#include <chrono>
#include <utility>

#include "test/sim/observed_transport.h"

namespace corail::sim {
namespace {

/// Keeps the driver's handle on a transport valid exactly as long as the transport lives.
class HandledTransport final : public Transport {
 public:
  /// `inner` is a MockTransport.
  explicit HandledTransport(std::unique_ptr<Transport> inner)
      : inner_(std::move(inner)),
        handle_(std::make_shared<MockTransport*>(static_cast<MockTransport*>(inner_.get()))) {}

  std::weak_ptr<MockTransport*> handle() const { return handle_; }

  Task<Result<void>> connect(RailEndpoint remote, TimePoint deadline) override {
    return inner_->connect(std::move(remote), deadline);
  }
  const Capabilities& capabilities() const noexcept override { return inner_->capabilities(); }
  void post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) override {
    inner_->post(context, slices, sink);
  }
  Task<Result<void>> fence(SliceSink& sink, TimePoint deadline) override {
    return inner_->fence(sink, deadline);
  }
  Task<void> close() override { return inner_->close(); }
  void when_lost(Lost lost) override { inner_->when_lost(std::move(lost)); }
  bool usable() const noexcept override { return inner_->usable(); }

 private:
  const std::unique_ptr<Transport> inner_;
  const std::shared_ptr<MockTransport*> handle_;
};

bool lies(const FaultScript& script) {
  return script.find(FaultKind::kFlip) != nullptr || script.find(FaultKind::kShort) != nullptr ||
         script.trust_completions;
}

}  // namespace

void plant_faults(Plant plant, Random& random, FaultScript& script) {
  const auto somewhere = [&random] { return random.below(8); };
  if (plant == Plant::kWeakFence) {
    script.weak_fence = true;
    Fault fault(FaultKind::kPacketAfterFence, somewhere());
    fault.delay = std::chrono::microseconds(100);
    script.add(fault);
  }
  if (plant == Plant::kTrustCompletions) {
    script.trust_completions = true;
    Fault fault(FaultKind::kEarlyCompletion, somewhere());
    fault.delay = std::chrono::milliseconds(5);
    script.add(fault);
  }
}

void DeviceHandles::unstick(std::size_t link) const {
  for (const Rail& rail : rails) {
    if (rail.link != link) continue;
    asio::post(rail.executor, [weak = rail.transport] {
      const auto alive = weak.lock();
      if (alive) (*alive)->unstick();
    });
  }
}

SimDevice::SimDevice(Surroundings around, MockOptions options, std::string address)
    : around_(std::move(around)),
      mock_(around_.context.get_executor(), around_.clock, around_.random, around_.net, options,
            std::move(address), [this] { return std::move(next_script_); }) {}

std::unique_ptr<Transport> SimDevice::make_transport() const {
  RailDraw draw = around_.draw();
  RailRecord& record = around_.rails.emplace_back();
  record.link = draw.link;
  record.window = draw.window;
  record.lies = lies(draw.script);
  next_script_ = std::move(draw.script);
  auto handled = std::make_unique<HandledTransport>(mock_.make_transport());
  DeviceHandles::Rail handle;
  handle.link = draw.link;
  handle.transport = handled->handle();
  handle.executor = around_.context.get_executor();
  around_.handles.rails.push_back(std::move(handle));
  std::unique_ptr<Transport> transport = std::move(handled);
  const Plant plant = around_.site.plant;
  if (sits_below(plant)) {
    transport = std::make_unique<PlantedTransport>(around_.site, std::move(transport));
  }
  transport = std::make_unique<ObservedTransport>(around_.context, around_.observer, record,
                                                  std::move(transport));
  if (sits_above(plant)) {
    transport = std::make_unique<PlantedTransport>(around_.site, std::move(transport));
  }
  return transport;
}

std::unique_ptr<RailDoor> SimDevice::make_door() const {
  auto door = mock_.make_door();
  around_.handles.door = static_cast<MockHolder*>(door.get());
  return door;
}

}  // namespace corail::sim
