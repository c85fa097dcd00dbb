#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/rail/rail_door.h"

namespace corail::test {

/// A holder with one region of position-dependent bytes, which counts the pins on it. Reads with
/// the number kLapsedRead have no lease. Any thread.
class MemoryGate final : public LeaseGate {
 public:
  static constexpr RegionId kRegion{7};
  static constexpr std::uint64_t kSeed = 20;
  static constexpr ReadId kLapsedRead{666};

  explicit MemoryGate(std::size_t bytes);

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override;

  std::size_t size() const noexcept { return memory_.size(); }
  std::size_t pins() const noexcept { return static_cast<std::size_t>(keeper_.use_count()) - 1; }
  std::size_t admitted() const noexcept { return admitted_; }

 private:
  std::vector<std::byte> memory_;
  const std::shared_ptr<const int> keeper_;
  std::atomic<std::size_t> admitted_{0};
};

}  // namespace corail::test
