#include "engine/store/memory_medium.h"

#include <cstring>
#include <utility>
#include <vector>

#include "engine/memory/slab.h"
#include "engine/object/descriptor_check.h"
#include "engine/object/placement.h"

namespace corail {
namespace {

class MemoryStripes final : public StripeSet {
 public:
  explicit MemoryStripes(std::vector<SlabChunk> chunks) : chunks_(std::move(chunks)) {}

  Task<Result<void>> write(std::uint32_t stripe, std::uint64_t offset,
                           std::span<const std::byte> bytes) override {
    std::memcpy(chunks_[stripe].bytes().data() + offset, bytes.data(), bytes.size());
    co_return ok_result();
  }
  Task<Result<void>> read(std::uint32_t stripe, std::uint64_t offset,
                          std::span<std::byte> into) override {
    std::memcpy(into.data(), chunks_[stripe].bytes().data() + offset, into.size());
    co_return ok_result();
  }
  Task<Result<void>> sync() override { co_return ok_result(); }
  Task<void> remove() override {
    chunks_.clear();
    co_return;
  }
  std::string where(std::uint32_t) const override { return "in memory"; }

 private:
  std::vector<SlabChunk> chunks_;  // by stripe
};

}  // namespace

Task<Result<Recovered>> MemoryMedium::recover() { co_return Recovered(); }

Task<Result<void>> MemoryMedium::reserve_generations(std::uint64_t) { co_return ok_result(); }

Task<Result<std::shared_ptr<StripeSet>>> MemoryMedium::create(ObjectGeneration, std::uint64_t size,
                                                              std::uint64_t stripe_size) {
  std::vector<SlabChunk> chunks;
  const auto stripes = static_cast<std::uint32_t>(stripes_of(size, stripe_size));
  chunks.reserve(stripes);
  for (std::uint32_t i = 0; i < stripes; ++i) {
    auto chunk = pool_.allocate(stripe_length(size, stripe_size, i), kAnyNumaNode);
    if (!chunk) co_return std::move(chunk).error();
    chunks.push_back(std::move(*chunk));
  }
  std::shared_ptr<StripeSet> set = std::make_shared<MemoryStripes>(std::move(chunks));
  co_return set;
}

Task<Result<void>> MemoryMedium::write_manifest(const StripingInfo&) { co_return ok_result(); }

Task<Result<void>> MemoryMedium::install_manifest(const std::string&) { co_return ok_result(); }

Task<Result<void>> MemoryMedium::withdraw(const std::string&) { co_return ok_result(); }

}  // namespace corail
