// Memory that homes of puts pull stripes from: who may read what of it, and for how long it stays.
#include "rpc/put_sources.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <utility>

#include "engine/base/units.h"
#include "rpc/put_gate.h"
#include "rpc/put_slots.h"
#include "test/support/virtual_world.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kSlot = 256 * kKiB;
const ReadContext kRead{ReadId(kFirstPutRead + 7), EpochNumber(1)};

struct Sources {
  PutOffer offer_of(std::uint64_t offset, std::uint64_t length) const {
    PutOffer offer;
    offer.memory = memory;
    offer.offset = offset;
    offer.length = length;
    offer.pin = Pin(memory);
    return offer;
  }
  Errc refused(RegionId region, std::uint64_t offset, std::uint64_t length) {
    const auto admitted = sources.admit(SessionId(1), kRead, region, offset, length);
    return admitted.ok() ? Errc::kUnset : admitted.error().code();
  }

  RegionRegistry registry;
  PutSources sources{registry, {}, 2 * kSlot};
  std::shared_ptr<PutMemory> memory = sources.take(2 * kSlot).value();
};

BOOST_AUTO_TEST_SUITE(sources_of_puts)

BOOST_AUTO_TEST_CASE(what_is_offered_is_admitted_and_nothing_else) {
  Sources of;
  const RegionId region = of.memory->region();
  BOOST_TEST((of.refused(region, 0, 1) == Errc::kLeaseExpired));
  of.sources.offer(kRead.read, of.offer_of(kSlot, 1000));
  const auto admitted = of.sources.admit(SessionId(1), kRead, region, kSlot + 10, 990);
  BOOST_REQUIRE(admitted.ok());
  BOOST_TEST(admitted->bytes.data() == of.memory->bytes().data() + kSlot + 10);
  BOOST_TEST(admitted->bytes.size() == 990U);
  BOOST_TEST((of.refused(region, kSlot + 10, 991) == Errc::kRefused));
  BOOST_TEST((of.refused(region, kSlot - 1, 2) == Errc::kRefused));
  BOOST_TEST((of.refused(region, kSlot + 1001, 1) == Errc::kRefused));
  BOOST_TEST((of.refused(region, kSlot, 0) == Errc::kRefused));
  BOOST_TEST((of.refused(region, kSlot + 1, ~std::uint64_t{0}) == Errc::kRefused));
  BOOST_TEST((of.refused(RegionId(region.value() + 1), kSlot, 1) == Errc::kRefused));
  of.sources.withdraw(kRead.read);
  BOOST_TEST((of.refused(region, kSlot, 1) == Errc::kLeaseExpired));
}

BOOST_AUTO_TEST_CASE(pins_keep_the_memory) {
  Sources of;
  of.sources.offer(kRead.read, of.offer_of(0, kSlot));
  auto admitted = of.sources.admit(SessionId(1), kRead, of.memory->region(), 0, 10);
  BOOST_REQUIRE(admitted.ok());
  of.sources.withdraw(kRead.read);
  of.memory.reset();
  BOOST_TEST(of.sources.bytes_in_use() == 2 * kSlot);
  // It is not what somebody else gets.
  const auto other = of.sources.take(2 * kSlot).value();
  BOOST_TEST(other->bytes().data() != admitted->bytes.data());
  admitted->pin.reset();
  BOOST_TEST(of.sources.bytes_in_use() == 2 * kSlot);
}

BOOST_AUTO_TEST_CASE(memory_is_reused_and_what_is_too_much_is_unpublished) {
  Sources of;
  const std::byte* const data = of.memory->bytes().data();
  auto second = of.sources.take(2 * kSlot).value();
  BOOST_TEST(of.registry.snapshot()->regions().size() == 2U);
  BOOST_TEST(of.sources.table().value() == of.registry.snapshot()->generation().value());
  second.reset();
  BOOST_TEST(of.registry.snapshot()->regions().size() == 1U);
  BOOST_TEST(of.sources.mapped_bytes() == 2 * kSlot);
  of.memory.reset();
  BOOST_TEST(of.sources.bytes_in_use() == 0U);
  of.memory = of.sources.take(2 * kSlot).value();
  BOOST_TEST(of.memory->bytes().data() == data);
  // One that is much too large is kept for those who need it.
  of.memory.reset();
  const auto small = of.sources.take(kSlot / 4).value();
  BOOST_TEST(small->bytes().data() != data);
}

BOOST_AUTO_TEST_CASE(a_slot_is_free_again_with_its_last_pin) {
  VirtualWorld world;
  Sources of;
  int came_back = 0;
  const auto slots = std::make_shared<PutSlots>(world.executor(), std::exchange(of.memory, nullptr),
                                                kSlot, 2, [&came_back] { ++came_back; });
  PutSlot first = slots->take();
  PutSlot second = slots->take();
  BOOST_REQUIRE((first && second));
  BOOST_TEST(first.bytes().data() + kSlot == second.bytes().data());
  BOOST_TEST(!slots->take());
  PutOffer offer = second.offer(100);
  BOOST_TEST(offer.offset == kSlot);
  second.reset();
  world.settle();
  BOOST_TEST(!slots->take());
  offer.pin.reset();
  world.settle();
  BOOST_TEST(came_back == 1);
  BOOST_TEST(bool{slots->take()});
  world.settle();
  // Closed, the memory goes with the last slot.
  slots->close();
  offer.memory.reset();
  BOOST_TEST(of.sources.bytes_in_use() == 2 * kSlot);
  first.reset();
  world.settle();
  BOOST_TEST(of.sources.bytes_in_use() == 0U);
  BOOST_TEST(!slots->take());
}

BOOST_AUTO_TEST_CASE(the_gate_tells_pulls_from_reads) {
  Sources of;
  PutGate gate(of.sources, nullptr);
  of.sources.offer(kRead.read, of.offer_of(0, kSlot));
  const RegionId region = of.memory->region();
  BOOST_TEST(gate.admit(SessionId(1), kRead, region, 0, 10).ok());
  const ReadContext block_read{ReadId(7), EpochNumber(1)};
  const auto refused = gate.admit(SessionId(1), block_read, region, 0, 10);
  BOOST_TEST((!refused.ok() && refused.error().code() == Errc::kRefused));
  // Reads of what the node holds are asked of whom that is.
  PutGate both(of.sources, &of.sources);
  BOOST_TEST(
      (both.admit(SessionId(1), block_read, region, 0, 10).error().code() == Errc::kLeaseExpired));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
