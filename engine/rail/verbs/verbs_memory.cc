#include "engine/rail/verbs/verbs_memory.h"

#include <algorithm>
#include <utility>

#include "engine/base/units.h"

namespace corail {
namespace {

constexpr std::uint64_t kPage = 4 * kKiB;

std::uint64_t address_of(const std::byte* bytes) noexcept {
  return reinterpret_cast<std::uint64_t>(bytes);
}

}  // namespace

class VerbsMemory::Served final : public MemoryRegistration {
 public:
  explicit Served(std::unique_ptr<const MemoryKey> key) : key_(std::move(key)) {}
  std::uint64_t key() const noexcept override { return key_->remote(); }

 private:
  const std::unique_ptr<const MemoryKey> key_;
};

class VerbsMemory::Landing final : public MemoryRegistration {
 public:
  Landing(std::shared_ptr<VerbsMemory> memory, std::span<std::byte> bytes,
          std::vector<std::unique_ptr<const MemoryKey>> keys)
      : memory_(std::move(memory)), bytes_(bytes), keys_(std::move(keys)) {}
  ~Landing() override { memory_->forget(bytes_); }
  std::uint64_t key() const noexcept override { return 0; }

 private:
  const std::shared_ptr<VerbsMemory> memory_;
  const std::span<std::byte> bytes_;
  const std::vector<std::unique_ptr<const MemoryKey>> keys_;
};

VerbsMemory::VerbsMemory(std::shared_ptr<const ProtectionDomain> pd, std::uint64_t max_region_bytes)
    : pd_(std::move(pd)),
      piece_bytes_(
          std::max(kPage, std::min(max_region_bytes == 0 ? ~std::uint64_t{0} : max_region_bytes,
                                   pd_->device().limits().max_region_bytes) /
                              kPage * kPage)) {}

Result<std::unique_ptr<const MemoryRegistration>> VerbsMemory::add(std::span<std::byte> bytes,
                                                                   MemoryUse use) {
  using Added = std::unique_ptr<const MemoryRegistration>;
  if (use == MemoryUse::kServed) {
    auto key = MemoryKey::make(pd_, bytes, MemoryAccess::kRemoteRead);
    if (!key.ok()) return std::move(key).error();
    return Added(std::make_unique<Served>(std::move(key).value()));
  }
  std::vector<std::unique_ptr<const MemoryKey>> keys;
  std::map<std::uint64_t, Known> known;
  for (std::uint64_t at = 0; at < bytes.size(); at += piece_bytes_) {
    const auto piece = bytes.subspan(at, std::min(piece_bytes_, bytes.size() - at));
    auto key = MemoryKey::make(pd_, piece, MemoryAccess::kLandReads);
    if (!key.ok()) return std::move(key).error();
    known[address_of(piece.data())] = Known{piece.size(), (*key)->local()};
    keys.push_back(std::move(key).value());
  }
  const std::lock_guard lock(mutex_);
  landing_.merge(known);
  return Added(std::make_unique<Landing>(shared_from_this(), bytes, std::move(keys)));
}

std::size_t VerbsMemory::find(std::byte* destination, std::uint64_t length,
                              std::span<LocalPiece, kWishedSegments> pieces) const {
  std::uint64_t address = address_of(destination);
  std::size_t count = 0;
  const std::lock_guard lock(mutex_);
  auto next = landing_.upper_bound(address);
  while (length > 0) {
    if (next == landing_.begin() || count == pieces.size()) return 0;
    const auto& [base, known] = *std::prev(next);
    if (address - base >= known.length) return 0;
    const std::uint64_t part = std::min(length, known.length - (address - base));
    pieces[count].address = address;
    pieces[count].length = static_cast<std::uint32_t>(part);
    pieces[count].key = known.key;
    ++count;
    address += part;
    length -= part;
    if (length > 0 && next != landing_.end()) ++next;
  }
  return count;
}

void VerbsMemory::forget(std::span<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t base = address_of(bytes.data());
  landing_.erase(landing_.lower_bound(base), landing_.lower_bound(base + bytes.size()));
}

}  // namespace corail
