#pragma once

#include <cstddef>
#include <memory>

#include "engine/rail/push.h"
#include "test/softroce/device_rig.h"

namespace corail::test {

/// Gives the orders of a rig's rails to the rig's door, which writes them from what is held there.
/// On the rig's thread; the rig outlives it.
class DoorCourier final : public PushCourier, public std::enable_shared_from_this<DoorCourier> {
 public:
  /// One for the rails that the rig connects from here on.
  static std::shared_ptr<DoorCourier> attached_to(DeviceRig& rig);

  void order(PushOrder order, Answered answered) override;
  /// The owner learns that reads up to this epoch were given up.
  void give_up(EpochNumber epoch) { given_up_ = epoch; }
  std::size_t ordered() const noexcept { return ordered_; }

 private:
  explicit DoorCourier(DeviceRig& rig) : rig_(rig) {}
  static Task<void> serve(std::shared_ptr<DoorCourier> self, PushOrder order, Answered answered);

  DeviceRig& rig_;
  EpochNumber given_up_{0};
  std::size_t ordered_ = 0;
};

/// Slices as DeviceRig::slices(), that the owner writes.
std::vector<Slice> pushed_slices(const DeviceRig& rig, std::uint64_t bytes, std::uint64_t length);

/// Lets the peer write into all of `memory` for the sink.
void grant(DeviceRig& rig, VerbsTransport& rail, SliceSink& sink, const Slab& memory);
void revoke(DeviceRig& rig, VerbsTransport& rail, SliceSink& sink);

}  // namespace corail::test
