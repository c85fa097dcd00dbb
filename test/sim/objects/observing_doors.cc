#include "test/sim/objects/observing_doors.h"

#include <memory>
#include <utility>

namespace corail::sim {
namespace {

/// Every how many slices the planted gate spoils one.
constexpr std::uint64_t kEvery = 5;

}  // namespace

Result<PinnedBytes> ServedGate::admit(SessionId session, ReadContext context, RegionId region,
                                      std::uint64_t offset, std::uint64_t length) {
  auto admitted = inner_.admit(session, context, region, offset, length);
  if (admitted) admitted->pin = model_.on_serve(node_, *admitted);
  return admitted;
}

Result<PinnedBytes> SpoilingGate::admit(SessionId session, ReadContext context, RegionId region,
                                        std::uint64_t offset, std::uint64_t length) {
  auto admitted = inner_.admit(session, context, region, offset, length);
  if (!admitted || plant_ != Plant::kSpoiled || admitted->bytes.empty()) return admitted;
  if (++admitted_ % kEvery != 0) return admitted;
  const auto spoiled =
      std::make_shared<std::vector<std::byte>>(admitted->bytes.begin(), admitted->bytes.end());
  spoiled->back() ^= std::byte{1};
  return PinnedBytes(*spoiled, Pin(spoiled));
}

Task<Result<std::vector<RailEndpoint>>> PushObserver::admit(SessionId session) {
  auto endpoints = co_await inner_.admit(session);
  co_return endpoints;
}

Task<Result<std::string>> PushObserver::greet(SessionId session, std::uint32_t door,
                                              std::string words) {
  auto answer = co_await inner_.greet(session, door, std::move(words));
  co_return answer;
}

Task<Result<void>> PushObserver::push(SessionId session, std::uint32_t door, PushOrder order,
                                      PinnedBytes bytes, std::function<bool()> cancelled) {
  if (plant_ == Plant::kNoPin) bytes.pin.reset();
  bytes.pin = model_.on_serve(node_, bytes);
  auto pushed = co_await inner_.push(session, door, order, std::move(bytes), std::move(cancelled));
  co_return pushed;
}

Task<void> PushObserver::drop(SessionId session) {
  if (plant_ == Plant::kOpenGate) co_return;
  co_await inner_.drop(session);
}

}  // namespace corail::sim
