#include "engine/store/memory_medium.h"

#include <cstring>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/object/descriptor_check.h"
#include "engine/object/placement.h"

namespace corail {
namespace {

class MemoryStripes final : public StripeSet {
 public:
  explicit MemoryStripes(std::vector<std::shared_ptr<StripeBytes>> stripes)
      : stripes_(std::move(stripes)) {}

  Task<Result<void>> write(std::uint32_t stripe, std::uint64_t offset,
                           std::span<const std::byte> bytes) override {
    std::memcpy(stripes_[stripe]->bytes().data() + offset, bytes.data(), bytes.size());
    co_return ok_result();
  }
  Task<Result<void>> read(std::uint32_t stripe, std::uint64_t offset,
                          std::span<std::byte> into) override {
    std::memcpy(into.data(), stripes_[stripe]->bytes().data() + offset, into.size());
    co_return ok_result();
  }
  Task<Result<void>> sync() override { co_return ok_result(); }
  Task<void> remove() override {
    stripes_.clear();  // those that are pinned go with their pins
    co_return;
  }
  std::string where(std::uint32_t) const override { return "in memory"; }
  bool in_memory() const noexcept override { return true; }
  StripeMemory memory(std::uint32_t stripe) const override {
    const std::shared_ptr<StripeBytes>& found = stripes_[stripe];
    StripeMemory memory;
    memory.index = stripe;
    memory.region = found->region();
    memory.region_offset = found->region_offset();
    memory.bytes = PinnedBytes(found->bytes(), Pin(found));
    return memory;
  }

 private:
  std::vector<std::shared_ptr<StripeBytes>> stripes_;
};

}  // namespace

Task<Result<Recovered>> MemoryMedium::recover() {
  Recovered nothing;
  // The top bits stay free for what is counted up from here.
  nothing.unused_generation = (mix64(boot_.value()) >> 2) | 1;
  co_return nothing;
}

Task<Result<void>> MemoryMedium::reserve_generations(std::uint64_t) { co_return ok_result(); }

Task<Result<std::shared_ptr<StripeSet>>> MemoryMedium::create(ObjectGeneration, std::uint64_t size,
                                                              std::uint64_t stripe_size) {
  std::vector<std::shared_ptr<StripeBytes>> chunks;
  const auto stripes = static_cast<std::uint32_t>(stripes_of(size, stripe_size));
  chunks.reserve(stripes);
  for (std::uint32_t i = 0; i < stripes; ++i) {
    auto chunk = memory_->allocate(stripe_length(size, stripe_size, i), i);
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
