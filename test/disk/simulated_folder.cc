#include "test/disk/simulated_folder.h"

#include <algorithm>

namespace corail::test::simulated {
namespace {

/// What a disk writes as a whole, bytes.
constexpr std::uint64_t kSector = 512;

void write_into(std::vector<std::byte>& content, std::uint64_t offset,
                std::span<const std::byte> bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
  std::copy(bytes.begin(), bytes.end(), content.begin() + static_cast<std::ptrdiff_t>(offset));
}

}  // namespace

void SimulatedFile::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  write_into(content, offset, bytes);
  pending.push_back({offset, {bytes.begin(), bytes.end()}});
}

void SimulatedFile::sync() {
  for (const Write& write : pending) write_into(durable, write.offset, write.bytes);
  pending.clear();
}

void SimulatedFile::crash(CrashLoss loss, Random& random) {
  for (const Write& write : pending) {
    if (loss == CrashLoss::kAll) break;
    if (loss == CrashLoss::kNone) {
      write_into(durable, write.offset, write.bytes);
      continue;
    }
    const std::span<const std::byte> bytes(write.bytes);
    for (std::uint64_t at = 0; at < bytes.size(); at += kSector) {
      if (random.below(2) == 0) continue;
      const std::uint64_t length = std::min<std::uint64_t>(kSector, bytes.size() - at);
      write_into(durable, write.offset + at, bytes.subspan(at, length));
    }
  }
  pending.clear();
  content = durable;
}

void SimulatedFolder::change(Change made) {
  apply(made, names);
  pending.push_back(std::move(made));
}

void SimulatedFolder::apply(const Change& change, Names& to) {
  if (!change.gone.empty()) to.erase(change.gone);
  if (!change.come.empty()) to[change.come] = change.file;
}

void SimulatedFolder::sync() {
  durable = names;
  pending.clear();
}

void SimulatedFolder::crash(CrashLoss loss, Random& random) {
  for (const Change& change : pending) {
    const bool kept =
        loss == CrashLoss::kNone || (loss == CrashLoss::kSome && random.below(2) == 0);
    if (kept) apply(change, durable);
  }
  pending.clear();
  names = durable;
  for (const auto& [name, file] : names) file->crash(loss, random);
}

}  // namespace corail::test::simulated
