#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/memory/slab_pool.h"
#include "engine/store/object_medium.h"

namespace corail {

/// Objects in pinned memory of this process, a chunk for each stripe: they end with it. Running out
/// of the pool's capacity is kOutOfMemory; a stripe larger than its slabs is kTooLarge. The pool
/// must outlive it.
class MemoryMedium final : public ObjectMedium {
 public:
  explicit MemoryMedium(SlabPool& pool) : pool_(pool) {}

  std::uint32_t devices() const noexcept override { return 1; }
  Task<Result<Recovered>> recover() override;
  Task<Result<void>> reserve_generations(std::uint64_t bound) override;
  Task<Result<std::shared_ptr<StripeSet>>> create(ObjectGeneration generation, std::uint64_t size,
                                                  std::uint64_t stripe_size) override;
  Task<Result<void>> write_manifest(const StripingInfo& info) override;
  Task<Result<void>> install_manifest(const std::string& key) override;
  Task<Result<void>> withdraw(const std::string& key) override;

 private:
  SlabPool& pool_;
};

}  // namespace corail
