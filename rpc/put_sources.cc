#include "rpc/put_sources.h"

#include <fmt/core.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/memory/slab.h"

namespace corail {
namespace {

/// A slab as one region; unpublished before it is unmapped.
struct PublishedSlab {
  PublishedSlab(RegionRegistry& of, std::unique_ptr<Slab> memory)
      : registry(of), slab(std::move(memory)) {}
  ~PublishedSlab() {
    if (published) registry.remove(region);
  }
  PublishedSlab(const PublishedSlab&) = delete;
  PublishedSlab& operator=(const PublishedSlab&) = delete;

  RegionRegistry& registry;
  const std::unique_ptr<Slab> slab;
  RegionId region;
  bool published = false;
};

}  // namespace

/// Kept by every piece of memory that is out, so that each finds its way back.
class PutSources::State : public std::enable_shared_from_this<State> {
 public:
  State(RegionRegistry& registry, MemoryRegistrars registrars, std::uint64_t keep_bytes)
      : registry_(registry), registrars_(std::move(registrars)), keep_bytes_(keep_bytes) {}

  Result<std::shared_ptr<PutMemory>> take(std::uint64_t bytes);
  void give_back(std::unique_ptr<PublishedSlab> slab) noexcept;

  void offer(ReadId read, PutOffer offer) {
    const std::lock_guard lock(mutex_);
    const bool added = offers_.emplace(read.value(), std::move(offer)).second;
    CORAIL_CHECK(added, "a read id of a put is used once");
  }
  void withdraw(ReadId read) {
    PutOffer gone;  // its pin goes without the lock
    const std::lock_guard lock(mutex_);
    const auto found = offers_.find(read.value());
    if (found == offers_.end()) return;
    gone = std::move(found->second);
    offers_.erase(found);
  }
  /// Offers hold memory, which holds this: nothing of all that would ever go.
  void withdraw_all() {
    std::unordered_map<std::uint64_t, PutOffer> gone;
    const std::lock_guard lock(mutex_);
    gone.swap(offers_);
  }
  Result<PinnedBytes> admit(ReadId read, RegionId region, std::uint64_t offset,
                            std::uint64_t length) const;

  TableGeneration table() const { return registry_.snapshot()->generation(); }
  std::uint64_t mapped_bytes() const {
    const std::lock_guard lock(mutex_);
    return mapped_bytes_;
  }
  std::uint64_t bytes_in_use() const {
    const std::lock_guard lock(mutex_);
    return mapped_bytes_ - idle_bytes_;
  }
  std::size_t offers() const {
    const std::lock_guard lock(mutex_);
    return offers_.size();
  }

 private:
  class Lent;
  using Slabs = std::vector<std::unique_ptr<PublishedSlab>>;

  std::unique_ptr<PublishedSlab> find_idle(std::uint64_t bytes);
  Result<std::unique_ptr<PublishedSlab>> make(std::uint64_t bytes);

  RegionRegistry& registry_;
  const MemoryRegistrars registrars_;
  const std::uint64_t keep_bytes_;
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, PutOffer> offers_;  // by read id
  Slabs idle_;                                          // the one that was used last at the end
  std::uint64_t idle_bytes_ = 0;
  std::uint64_t mapped_bytes_ = 0;
};

class PutSources::State::Lent final : public PutMemory {
 public:
  Lent(std::shared_ptr<State> state, std::unique_ptr<PublishedSlab> slab)
      : state_(std::move(state)), slab_(std::move(slab)) {}
  ~Lent() override { state_->give_back(std::move(slab_)); }

  std::span<std::byte> bytes() const noexcept override {
    return {slab_->slab->data(), slab_->slab->bytes()};
  }
  RegionId region() const noexcept override { return slab_->region; }

 private:
  const std::shared_ptr<State> state_;
  std::unique_ptr<PublishedSlab> slab_;
};

Result<std::shared_ptr<PutMemory>> PutSources::State::take(std::uint64_t bytes) {
  auto slab = find_idle(bytes);
  if (!slab) {
    auto made = make(bytes);
    if (!made) return std::move(made).error();
    slab = std::move(*made);
  }
  return std::shared_ptr<PutMemory>(std::make_shared<Lent>(shared_from_this(), std::move(slab)));
}

std::unique_ptr<PublishedSlab> PutSources::State::find_idle(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  // Not one that is much too large: it would be missing where it is needed.
  const auto fits = [bytes](const auto& slab) {
    return slab->slab->bytes() >= bytes && slab->slab->bytes() / 2 <= bytes;
  };
  const auto found = std::find_if(idle_.begin(), idle_.end(), fits);
  if (found == idle_.end()) return nullptr;
  auto slab = std::move(*found);
  idle_.erase(found);
  idle_bytes_ -= slab->slab->bytes();
  return slab;
}

Result<std::unique_ptr<PublishedSlab>> PutSources::State::make(std::uint64_t bytes) {
  SlabOptions options;
  options.bytes = bytes;
  options.numa_node = kAnyNumaNode;
  auto mapped = Slab::create(options);
  if (!mapped) return std::move(mapped).error();
  auto slab = std::make_unique<PublishedSlab>(registry_, std::move(*mapped));
  auto known = slab->slab->register_with(registrars_, MemoryUse::kServed);
  if (!known) return std::move(known).error();
  const auto base = reinterpret_cast<std::uint64_t>(slab->slab->data());
  auto region = registry_.add(base, slab->slab->bytes(), options.numa_node, slab->slab->keys());
  if (!region) return std::move(region).error();
  slab->region = *region;
  slab->published = true;
  const std::lock_guard lock(mutex_);
  mapped_bytes_ += slab->slab->bytes();
  return slab;
}

void PutSources::State::give_back(std::unique_ptr<PublishedSlab> slab) noexcept {
  Slabs dropped;  // unmapped without the lock
  const std::lock_guard lock(mutex_);
  idle_bytes_ += slab->slab->bytes();
  idle_.push_back(std::move(slab));
  while (!idle_.empty() && mapped_bytes_ > keep_bytes_) {
    mapped_bytes_ -= idle_.front()->slab->bytes();
    idle_bytes_ -= idle_.front()->slab->bytes();
    dropped.push_back(std::move(idle_.front()));
    idle_.erase(idle_.begin());
  }
}

Result<PinnedBytes> PutSources::State::admit(ReadId read, RegionId region, std::uint64_t offset,
                                             std::uint64_t length) const {
  const std::lock_guard lock(mutex_);
  const auto found = offers_.find(read.value());
  if (found == offers_.end()) {
    return Error(Errc::kLeaseExpired, Stage::kServe,
                 "the writer of the put offers nothing under this read any more");
  }
  const PutOffer& offer = found->second;
  // In this order nothing overflows (I5).
  const bool inside = region == offer.memory->region() && offset >= offer.offset &&
                      offset - offer.offset <= offer.length && length > 0 &&
                      length <= offer.length - (offset - offer.offset);
  if (!inside) {
    return Error(Errc::kRefused, Stage::kServe,
                 fmt::format("{} bytes at {} of region {} are not of the stripe that is offered",
                             length, offset, region.value()));
  }
  return PinnedBytes(offer.memory->bytes().subspan(offset, length), offer.pin);
}

PutSources::PutSources(RegionRegistry& registry, MemoryRegistrars registrars,
                       std::uint64_t keep_bytes)
    : state_(std::make_shared<State>(registry, std::move(registrars), keep_bytes)) {}
PutSources::~PutSources() { state_->withdraw_all(); }

Result<std::shared_ptr<PutMemory>> PutSources::take(std::uint64_t bytes) {
  return state_->take(bytes);
}
TableGeneration PutSources::table() const { return state_->table(); }
void PutSources::offer(ReadId read, PutOffer offer) { state_->offer(read, std::move(offer)); }
void PutSources::withdraw(ReadId read) { state_->withdraw(read); }

Result<PinnedBytes> PutSources::admit(SessionId /*session*/, ReadContext context, RegionId region,
                                      std::uint64_t offset, std::uint64_t length) {
  return state_->admit(context.read, region, offset, length);
}

std::uint64_t PutSources::mapped_bytes() const { return state_->mapped_bytes(); }
std::uint64_t PutSources::bytes_in_use() const { return state_->bytes_in_use(); }
std::size_t PutSources::offers() const { return state_->offers(); }

}  // namespace corail
