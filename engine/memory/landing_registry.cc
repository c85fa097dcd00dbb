#include "engine/memory/landing_registry.h"

#include <fmt/core.h>

#include <exception>
#include <iterator>
#include <utility>

#include "engine/base/check.h"

namespace corail {
namespace {

std::uint64_t first_address(std::span<std::byte> bytes) noexcept {
  return reinterpret_cast<std::uint64_t>(bytes.data());
}

}  // namespace

LandingRegistry::LandingRegistry(MemoryRegistrars registrars)
    : registrars_(std::move(registrars)) {}

Result<std::shared_ptr<CallersMemory>> LandingRegistry::add(std::span<std::byte> bytes) {
  auto claimed = claim(bytes);
  if (!claimed) return std::move(claimed).error();
  auto added = make(bytes);
  if (!added) remove(bytes);
  return added;
}

/// Without the lock: the kernel pins the pages.
Result<std::shared_ptr<CallersMemory>> LandingRegistry::make(std::span<std::byte> bytes) noexcept {
  try {
    auto known = register_everywhere(registrars_, bytes, MemoryUse::kLanding);
    if (!known) return std::move(known).error().at(Stage::kSetup);
    return std::make_shared<CallersMemory>(shared_from_this(), bytes, std::move(*known));
  } catch (const std::exception&) {
    return Error(Errc::kOutOfMemory, Stage::kSetup, "no memory to keep account of a registration");
  }
}

Result<void> LandingRegistry::claim(std::span<std::byte> bytes) {
  if (bytes.empty()) {
    return Error(Errc::kInvalidArgument, Stage::kSetup, "there are no bytes to register");
  }
  const std::uint64_t begin = first_address(bytes);
  const std::lock_guard lock(mutex_);
  const auto next = lengths_.lower_bound(begin);
  const bool into_next = next != lengths_.end() && next->first - begin < bytes.size();
  const bool in_last =
      next != lengths_.begin() && begin - std::prev(next)->first < std::prev(next)->second;
  if (into_next || in_last) {
    return Error(Errc::kInvalidArgument, Stage::kSetup,
                 fmt::format("of the {} bytes at {:#x} some are registered already; close that "
                             "registration first, or use it",
                             bytes.size(), begin));
  }
  lengths_.emplace(begin, bytes.size());
  return ok_result();
}

void LandingRegistry::remove(std::span<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  const bool removed = lengths_.erase(first_address(bytes)) == 1;
  CORAIL_CHECK(removed, "only what was registered is forgotten");
}

std::uint64_t LandingRegistry::bytes() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [address, length] : lengths_) sum += length;
  return sum;
}

}  // namespace corail
