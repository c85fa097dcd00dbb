#include "test/softroce/door_courier.h"

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <span>
#include <utility>

namespace corail::test {
namespace {

Task<void> grant_memory(VerbsTransport* rail, SliceSink* sink,
                        std::vector<std::span<std::byte>> memory, TimePoint deadline,
                        Result<void>* granted) {
  *granted = co_await rail->grant(*sink, std::move(memory), deadline);
}

Task<void> revoke_memory(VerbsTransport* rail, SliceSink* sink) { co_await rail->revoke(*sink); }

}  // namespace

std::shared_ptr<DoorCourier> DoorCourier::attached_to(DeviceRig& rig) {
  std::shared_ptr<DoorCourier> courier(new DoorCourier(rig));
  rig.endpoint.courier = courier;
  return courier;
}

void DoorCourier::order(PushOrder order, Answered answered) {
  ++ordered_;
  asio::co_spawn(rig_.context, serve(shared_from_this(), order, std::move(answered)),
                 asio::detached);
}

Task<void> DoorCourier::serve(std::shared_ptr<DoorCourier> self, PushOrder order,
                              Answered answered) {
  // No answer from within order().
  co_await asio::post(self->rig_.context, asio::use_awaitable);
  PinnedBytes bytes(
      std::span<const std::byte>(self->rig_.held->data() + order.source_offset, order.length),
      Pin());
  std::function<bool()> cancelled = [self, epoch = order.context.epoch] {
    return epoch.value() <= self->given_up_.value();
  };
  const auto pushed =
      co_await self->rig_.door->push(kSession, order, std::move(bytes), std::move(cancelled));
  PushReceipt receipt;
  receipt.bytes = order.length;
  if (pushed.ok()) {
    answered(receipt);
  } else {
    answered(pushed.error());
  }
}

std::vector<Slice> pushed_slices(const DeviceRig& rig, std::uint64_t bytes, std::uint64_t length) {
  auto slices = rig.slices(bytes, length);
  for (Slice& slice : slices) {
    slice.pushed = true;
    slice.remote_key = 0;
  }
  return slices;
}

void grant(DeviceRig& rig, VerbsTransport& rail, SliceSink& sink, const Slab& memory) {
  std::vector<std::span<std::byte>> all;
  all.emplace_back(memory.data(), memory.bytes());
  Result<void> granted;
  rig.run(grant_memory(&rail, &sink, std::move(all), rig.clock.now() + std::chrono::seconds(30),
                       &granted));
  BOOST_TEST_REQUIRE(granted.ok(), (granted.ok() ? "" : granted.error().to_string()));
}

void revoke(DeviceRig& rig, VerbsTransport& rail, SliceSink& sink) {
  rig.run(revoke_memory(&rail, &sink));
}

}  // namespace corail::test
