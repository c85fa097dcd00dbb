#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "engine/base/ids.h"
#include "engine/store/object_medium.h"
#include "engine/store/object_memory.h"

namespace corail {

/// Objects in memory of this process that peers may read: they end with it. Running out of it is
/// kOutOfMemory, a stripe longer than its regions kTooLarge.
class MemoryMedium final : public ObjectMedium {
 public:
  /// No generation of an earlier boot may be taken for one of this one's, so they begin somewhere
  /// else in each.
  MemoryMedium(std::shared_ptr<ObjectMemory> memory, BootId boot)
      : memory_(std::move(memory)), boot_(boot) {}

  std::uint32_t devices() const noexcept override { return 1; }
  Task<Result<Recovered>> recover() override;
  Task<Result<void>> reserve_generations(std::uint64_t bound) override;
  Task<Result<std::shared_ptr<StripeSet>>> create(ObjectGeneration generation, std::uint64_t size,
                                                  std::uint64_t stripe_size) override;
  Task<Result<void>> write_manifest(const StripingInfo& info) override;
  Task<Result<void>> install_manifest(const std::string& key) override;
  Task<Result<void>> withdraw(const std::string& key) override;

 private:
  const std::shared_ptr<ObjectMemory> memory_;
  const BootId boot_;
};

}  // namespace corail
