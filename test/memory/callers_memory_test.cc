#include "engine/memory/callers_memory.h"

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/units.h"
#include "engine/memory/landing_registry.h"
#include "engine/memory/slab.h"
#include "test/memory/counting_device.h"

namespace corail::test {
namespace {

/// Memory that two devices know, of three ports.
struct Registered {
  Registered() { memory = add(bytes).value(); }
  ~Registered() {
    if (memory->try_retire()) memory->forget();
  }
  Result<std::shared_ptr<CallersMemory>> add(std::span<std::byte> part) const {
    return registry->add(part);
  }

  const std::shared_ptr<CountingDevice> first = std::make_shared<CountingDevice>();
  const std::shared_ptr<CountingDevice> second = std::make_shared<CountingDevice>();
  const std::shared_ptr<LandingRegistry> registry =
      std::make_shared<LandingRegistry>(MemoryRegistrars{first, nullptr, second});
  std::vector<std::byte> all = std::vector<std::byte>(3000);
  std::span<std::byte> bytes = std::span(all).subspan(1000, 1000);
  std::shared_ptr<CallersMemory> memory;
};

Errc code_of(const Result<std::shared_ptr<CallersMemory>>& result) {
  return result.ok() ? Errc::kUnset : result.error().code();
}

BOOST_AUTO_TEST_SUITE(callers_memory)

BOOST_AUTO_TEST_CASE(devices_know_it_until_it_is_forgotten) {
  Registered it;
  BOOST_TEST(it.first->known == 1);
  BOOST_TEST(it.second->known == 1);
  BOOST_TEST((it.first->last_use == MemoryUse::kLanding));
  BOOST_TEST(it.registry->bytes() == 1000U);
  auto other = it.add(std::span(it.all).first(1000)).value();
  BOOST_REQUIRE(other->try_retire());
  other->forget();
  BOOST_TEST(it.first->known == 1);
  BOOST_TEST(it.second->known == 1);
  BOOST_TEST(it.registry->bytes() == 1000U);
  // What was forgotten can be registered again.
  other = it.add(std::span(it.all).first(1000)).value();
  BOOST_TEST(it.first->known == 2);
  BOOST_REQUIRE(other->try_retire());
  other->forget();
}

BOOST_AUTO_TEST_CASE(no_byte_is_registered_twice) {
  Registered it;
  const std::span<std::byte> all(it.all);
  const std::span<std::byte> overlapping[] = {all, all.subspan(1000, 1000), all.subspan(1001, 1),
                                              all.first(1001), all.subspan(1999)};
  for (const std::span<std::byte> part : overlapping) {
    BOOST_TEST((code_of(it.add(part)) == Errc::kInvalidArgument));
  }
  BOOST_TEST((code_of(it.add(all.first(0))) == Errc::kInvalidArgument));
  BOOST_TEST(it.first->known == 1);
  for (const std::span<std::byte> part : {all.first(1000), all.subspan(2000)}) {
    auto neighbour = it.add(part);
    BOOST_REQUIRE(neighbour.ok());
    BOOST_REQUIRE((*neighbour)->try_retire());
    (*neighbour)->forget();
  }
}

BOOST_AUTO_TEST_CASE(a_device_that_refuses_leaves_nothing_behind) {
  Registered it;
  it.second->refuse = true;
  const std::span<std::byte> part = std::span(it.all).first(10);
  BOOST_TEST((code_of(it.add(part)) == Errc::kOutOfMemory));
  BOOST_TEST(it.first->known == 1);
  BOOST_TEST(it.registry->bytes() == 1000U);
  it.second->refuse = false;
  auto added = it.add(part);
  BOOST_REQUIRE(added.ok());
  BOOST_REQUIRE((*added)->try_retire());
  (*added)->forget();
}

BOOST_AUTO_TEST_CASE(a_part_is_a_chunk_that_is_not_the_engines) {
  Registered it;
  const auto chunk = it.memory->pin(10, 20);
  BOOST_REQUIRE(chunk.ok());
  BOOST_TEST((chunk->bytes().data() == it.bytes.data() + 10));
  BOOST_TEST(chunk->bytes().size() == 20U);
  BOOST_TEST(!chunk->engine_owned());
  BOOST_TEST(chunk->numa_node() == kAnyNumaNode);
  const std::pair<std::uint64_t, std::uint64_t> outside[] = {
      {0, 1001}, {1000, 1}, {1001, 0}, {0, 0}, {~std::uint64_t{0}, 2}, {2, ~std::uint64_t{0}}};
  for (const auto& [offset, length] : outside) {
    const auto refused = it.memory->pin(offset, length);
    BOOST_REQUIRE(!refused.ok());
    BOOST_TEST((refused.error().code() == Errc::kInvalidArgument));
  }
}

BOOST_AUTO_TEST_CASE(it_is_free_when_the_last_pin_is_gone_and_not_before) {
  Registered it;
  int free = 0;
  auto memory = it.add(std::span(it.all).first(10)).value();
  SlabChunk last = memory->pin(0, 1).value();
  Pin kept = last.pin();
  memory->retire([&free] { ++free; });
  const auto late = memory->pin(0, 1);
  BOOST_REQUIRE(!late.ok());
  BOOST_TEST((late.error().code() == Errc::kClosed));
  last.reset();
  BOOST_TEST(free == 0);
  kept.reset();
  BOOST_TEST(free == 1);
  memory->forget();
}

BOOST_AUTO_TEST_CASE(copies_and_pins_of_a_chunk_are_one_right) {
  Registered it;
  SlabChunk chunk = it.memory->pin(0, 10).value();
  SlabChunk copy = chunk;
  Pin pin = chunk.pin();
  chunk.reset();
  copy.reset();
  BOOST_TEST(!it.memory->try_retire());
  pin.reset();
  SlabChunk other = it.memory->pin(0, 10).value();
  BOOST_TEST(!it.memory->try_retire());
}

BOOST_AUTO_TEST_CASE(without_pins_it_is_free_at_once) {
  Registered it;
  auto memory = it.add(std::span(it.all).first(10)).value();
  bool free = false;
  memory->retire([&free] { free = true; });
  BOOST_TEST(free);
  memory->forget();
}

BOOST_AUTO_TEST_CASE(what_is_quarantined_is_never_free) {
  // Never destroyed, as what a device may still write into must not be.
  static auto* const it = new Registered;
  {
    const SlabChunk chunk = it->memory->pin(0, 10).value();
    chunk.quarantine();
  }
  BOOST_TEST(!it->memory->try_retire());
  BOOST_TEST(it->first->known == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
