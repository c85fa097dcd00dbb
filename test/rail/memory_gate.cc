#include "test/rail/memory_gate.h"

#include "test/support/pattern.h"

namespace corail::test {

MemoryGate::MemoryGate(std::size_t bytes) : memory_(bytes), keeper_(std::make_shared<int>(0)) {
  fill_pattern(memory_, kSeed, 0);
}

Result<PinnedBytes> MemoryGate::admit(SessionId /*session*/, ReadContext context, RegionId region,
                                      std::uint64_t offset, std::uint64_t length) {
  if (context.read == kLapsedRead) return Error(Errc::kLeaseExpired, "lapsed");
  if (region != kRegion || offset > memory_.size() || length > memory_.size() - offset) {
    return Error(Errc::kRefused, "not leased");
  }
  ++admitted_;
  return PinnedBytes(std::span<const std::byte>(memory_).subspan(offset, length), Pin(keeper_));
}

}  // namespace corail::test
