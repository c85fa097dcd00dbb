#include "engine/memory/memory_registrar.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace corail {

Result<MemoryRegistrations> register_everywhere(const MemoryRegistrars& registrars,
                                                std::span<std::byte> bytes, MemoryUse use) {
  using Added = Result<std::unique_ptr<const MemoryRegistration>>;
  std::vector<Added> added(registrars.size());
  std::vector<std::jthread> threads;
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
      added[i] = registrar->add(bytes, use);
    } else {
      threads.emplace_back(
          [&slot = added[i], registrar, bytes, use] { slot = registrar->add(bytes, use); });
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
