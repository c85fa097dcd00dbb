#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/error.h"
#include "engine/memory/memory_registrar.h"

namespace corail::test {

/// A device that counts how much memory it knows. Outlives its registrations.
class CountingDevice final : public MemoryRegistrar {
 public:
  Result<std::unique_ptr<const MemoryRegistration>> add(std::span<std::byte> /*bytes*/,
                                                        MemoryUse use) override {
    last_use = use;
    if (refuse) return Error(Errc::kOutOfMemory, "no memory is locked any more");
    ++known;
    return std::unique_ptr<const MemoryRegistration>(std::make_unique<Registration>(*this));
  }

  std::atomic<int> known{0};
  std::atomic<bool> refuse{false};
  std::atomic<MemoryUse> last_use{MemoryUse::kServed};

 private:
  class Registration final : public MemoryRegistration {
   public:
    explicit Registration(CountingDevice& device) : device_(device) {}
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;
    ~Registration() override { --device_.known; }
    std::uint64_t key() const noexcept override { return 0; }

   private:
    CountingDevice& device_;
  };
};

}  // namespace corail::test
