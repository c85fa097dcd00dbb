#include "test/sim/observing_gate.h"

#include <utility>

namespace corail::sim {

Result<PinnedBytes> ObservingGate::admit(SessionId session, ReadContext context, RegionId region,
                                         std::uint64_t offset, std::uint64_t length) {
  auto admitted = inner_.admit(session, context, region, offset, length);
  if (admitted) {
    model_.on_admit(node_, session, context, region, offset, admitted->bytes);
  }
  return admitted;
}

Task<Result<std::vector<RailEndpoint>>> ObservingHost::admit(SessionId session) {
  model_.links()[opening_()].session = session;
  auto endpoints = co_await inner_.admit(session);
  co_return endpoints;
}

Task<Result<std::string>> ObservingHost::greet(SessionId session, std::uint32_t door,
                                               std::string words) {
  auto answer = co_await inner_.greet(session, door, std::move(words));
  co_return answer;
}

Task<void> ObservingHost::drop(SessionId session) { co_await inner_.drop(session); }

Result<PinnedBytes> PlantedGate::admit(SessionId session, ReadContext context, RegionId region,
                                       std::uint64_t offset, std::uint64_t length) {
  auto admitted = inner_.admit(session, context, region, offset, length);
  if (admitted && plant_ == Plant::kNoPin) admitted->pin.reset();
  if (admitted || plant_ != Plant::kOpenGate) return admitted;
  const auto table = regions_.snapshot();
  for (const Region& known : table->regions()) {
    if (known.id != region || offset >= known.length || length > known.length - offset) continue;
    const auto* bytes =
        reinterpret_cast<const std::byte*>(known.base + offset);  // NOLINT: our own region
    return PinnedBytes({bytes, length}, Pin());
  }
  return admitted;
}

}  // namespace corail::sim
