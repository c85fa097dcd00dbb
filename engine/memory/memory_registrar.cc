#include "engine/memory/memory_registrar.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace corail {
namespace {

using Added = Result<std::unique_ptr<const MemoryRegistration>>;

Added add_to(MemoryRegistrar& registrar, std::span<std::byte> bytes, MemoryUse use) noexcept {
  try {
    return registrar.add(bytes, use);
  } catch (const std::exception&) {
    return Error(Errc::kOutOfMemory, Stage::kSetup, "no memory to keep account of a registration");
  }
}

}  // namespace

Result<MemoryRegistrations> register_everywhere(const MemoryRegistrars& registrars,
                                                std::span<std::byte> bytes, MemoryUse use) {
  std::vector<Added> added(registrars.size());
  std::vector<std::jthread> threads;
  threads.reserve(registrars.size());
  std::size_t left = static_cast<std::size_t>(std::count_if(
      registrars.begin(), registrars.end(), [](const auto& r) { return r != nullptr; }));
  for (std::size_t i = 0; i < registrars.size(); ++i) {
    MemoryRegistrar* const registrar = registrars[i].get();
    if (registrar == nullptr) {
      added[i] = std::unique_ptr<const MemoryRegistration>();
      continue;
    }
    // The last one is done here.
    if (--left == 0) {
      added[i] = add_to(*registrar, bytes, use);
      continue;
    }
    try {
      threads.emplace_back(
          [&slot = added[i], registrar, bytes, use] { slot = add_to(*registrar, bytes, use); });
    } catch (const std::system_error&) {
      // The system has no thread left.
      added[i] = add_to(*registrar, bytes, use);
    }
  }
  threads.clear();
  MemoryRegistrations registrations;
  for (Added& one : added) {
    if (!one.ok()) return std::move(one).error();
    registrations.push_back(std::move(one).value());
  }
  return registrations;
}

std::uint64_t max_served_bytes(const MemoryRegistrars& registrars) noexcept {
  std::uint64_t least = MemoryRegistrar::kNoServedLimit;
  for (const auto& one : registrars) {
    if (one != nullptr) least = std::min(least, one->max_served_bytes());
  }
  return least;
}

std::vector<std::uint64_t> keys_of(const MemoryRegistrations& registrations) {
  std::vector<std::uint64_t> keys;
  for (const auto& one : registrations) keys.push_back(one == nullptr ? 0 : one->key());
  return keys;
}

}  // namespace corail
