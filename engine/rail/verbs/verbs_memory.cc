#include "engine/rail/verbs/verbs_memory.h"

#include <algorithm>
#include <limits>
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
  Served(std::shared_ptr<VerbsMemory> memory, std::span<std::byte> bytes,
         std::unique_ptr<const MemoryKey> key)
      : memory_(std::move(memory)), bytes_(bytes), key_(std::move(key)) {}
  ~Served() override { memory_->forget_served(bytes_, key_->local()); }
  std::uint64_t key() const noexcept override { return key_->remote(); }

 private:
  const std::shared_ptr<VerbsMemory> memory_;
  const std::span<std::byte> bytes_;
  const std::unique_ptr<const MemoryKey> key_;
};

class VerbsMemory::Landing final : public MemoryRegistration {
 public:
  Landing(std::shared_ptr<VerbsMemory> memory, std::span<std::byte> bytes,
          std::vector<std::unique_ptr<const MemoryKey>> keys)
      : memory_(std::move(memory)), bytes_(bytes), keys_(std::move(keys)) {}
  ~Landing() override { memory_->forget_landing(bytes_); }
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
    const std::lock_guard lock(mutex_);
    served_.emplace(address_of(bytes.data()), Known{bytes.size(), (*key)->local()});
    return Added(std::make_unique<Served>(shared_from_this(), bytes, std::move(key).value()));
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

LocalPiece VerbsMemory::find_source(std::span<const std::byte> bytes) const {
  const std::uint64_t address = address_of(bytes.data());
  const auto part = [&](std::uint64_t base, const Known& known, std::uint64_t counted_from) {
    LocalPiece piece;
    if (address - base >= known.length) return piece;
    const std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    piece.address = address - counted_from;
    piece.length = static_cast<std::uint32_t>(
        std::min({most, known.length - (address - base), std::uint64_t{bytes.size()}}));
    piece.key = known.key;
    return piece;
  };
  const std::lock_guard lock(mutex_);
  LocalPiece found;
  if (const auto next = served_.upper_bound(address); next != served_.begin()) {
    const auto& [base, known] = *std::prev(next);
    // What peers may read counts from its first byte, for us as for them.
    found = part(base, known, base);
  }
  if (const auto next = landing_.upper_bound(address);
      found.length == 0 && next != landing_.begin()) {
    const auto& [base, known] = *std::prev(next);
    found = part(base, known, 0);
  }
  return found;
}

Result<std::unique_ptr<const MemoryKey>> VerbsMemory::add_write_key(
    std::span<std::byte> bytes) const {
  return MemoryKey::make(pd_, bytes, MemoryAccess::kPeerWrites);
}

void VerbsMemory::forget_landing(std::span<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t base = address_of(bytes.data());
  landing_.erase(landing_.lower_bound(base), landing_.lower_bound(base + bytes.size()));
}

void VerbsMemory::forget_served(std::span<std::byte> bytes, std::uint32_t key) {
  const std::lock_guard lock(mutex_);
  const auto [begin, end] = served_.equal_range(address_of(bytes.data()));
  const auto own =
      std::find_if(begin, end, [key](const auto& entry) { return entry.second.key == key; });
  if (own != end) served_.erase(own);
}

}  // namespace corail
