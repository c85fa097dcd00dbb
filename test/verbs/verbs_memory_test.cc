#include "engine/rail/verbs/verbs_memory.h"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <span>
#include <utility>

#include "engine/memory/slab.h"
#include "test/verbs/verbs_rig.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kPiece = 8192;

std::size_t found(const VerbsRig& rig, std::size_t offset, std::uint64_t length) {
  std::array<LocalPiece, kWishedSegments> pieces;
  return rig.port->memory()->find(const_cast<std::byte*>(rig.memory.data()) + offset, length,
                                  pieces);
}

BOOST_AUTO_TEST_SUITE(verbs_memory)

BOOST_AUTO_TEST_CASE(a_destination_is_found_in_the_pieces_that_it_lies_in) {
  VerbsRig rig(kPiece);
  BOOST_TEST(found(rig, 0, kPiece) == 1);
  BOOST_TEST(found(rig, 1, kPiece) == 2);
  BOOST_TEST(found(rig, kPiece - 1, 2 * kPiece + 2) == 4);
  BOOST_TEST(found(rig, kPiece - 1, 3 * kPiece + 2) == 0);
  BOOST_TEST(found(rig, VerbsRig::kBytes - 1, 1) == 1);
  BOOST_TEST(found(rig, VerbsRig::kBytes - 1, 2) == 0);
  BOOST_TEST(found(rig, VerbsRig::kBytes, 1) == 0);
  rig.landing.reset();
  BOOST_TEST(found(rig, 0, 1) == 0);
}

BOOST_AUTO_TEST_CASE(reads_over_the_borders_of_registrations_land_whole) {
  VerbsRig rig(kPiece);
  auto rail = rig.connected();
  BOOST_TEST(rail->capabilities().max_slice_bytes == 3 * kPiece);
  OutcomeSink sink(rig.context.get_executor());
  const auto slices = rig.slices(100, VerbsRig::kBytes, 3 * kPiece);
  rail->post(kRead, slices, sink);
  rig.machine.run_all();
  rig.run(sink.outcomes(slices.size()));
  BOOST_TEST(sink.count(Errc::kUnset) == slices.size());
  BOOST_TEST(rig.landed(100, VerbsRig::kBytes));
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(served_memory_can_be_read_and_not_written_and_landing_memory_neither) {
  VerbsRig rig;
  BOOST_TEST(rig.served->key() != 0);
  BOOST_TEST(rig.landing->key() == 0);
  // Devices may order writes as they like; that is no right of anybody's.
  const auto rights = [&rig](std::uint64_t key) {
    return rig.machine.region(static_cast<std::uint32_t>(key))->access &
           ~unsigned{IBV_ACCESS_RELAXED_ORDERING};
  };
  BOOST_TEST(rights(rig.served->key()) == unsigned{IBV_ACCESS_REMOTE_READ});
  std::array<LocalPiece, kWishedSegments> pieces;
  BOOST_TEST_REQUIRE(rig.port->memory()->find(rig.memory.data(), 1, pieces) == 1);
  BOOST_TEST(rights(pieces[0].key) == unsigned{IBV_ACCESS_LOCAL_WRITE});
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  auto slices = rig.slices(0, 1024, 1024);
  slices[0].destination = rig.held.data();
  rail->post(kRead, slices, sink);
  rig.run(sink.outcomes(1));
  BOOST_TEST(sink.count(Errc::kInvalidArgument) == 1);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(each_piece_of_what_is_served_has_a_key_of_its_own) {
  VerbsRig rig(kPiece);
  BOOST_TEST(rig.port->memory()->max_served_bytes() == kPiece);
  SlabOptions options;
  options.bytes = VerbsRig::kBytes;
  auto slab = *Slab::create(options);
  std::copy(rig.held.begin(), rig.held.end(), slab->data());
  BOOST_TEST_REQUIRE(slab->register_with({rig.port->memory()}, MemoryUse::kServed, kPiece).ok());
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  auto slices = rig.slices(0, VerbsRig::kBytes, kPiece);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    slices[i].remote_key = slab->keys(i)[0];
    slices[i].remote_offset = 0;
  }
  rail->post(kRead, slices, sink);
  rig.machine.run_all();
  rig.run(sink.outcomes(slices.size()));
  BOOST_TEST(sink.count(Errc::kUnset) == slices.size());
  BOOST_TEST(rig.landed(0, VerbsRig::kBytes));
  OutcomeSink across(rig.context.get_executor());
  slices.resize(1);
  slices[0].remote_offset = 1;
  rail->post(kRead, slices, across);
  rig.machine.run_all();
  rig.run(across.outcomes(1));
  BOOST_TEST(across.count(Errc::kRefused) == 1);
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(what_is_sent_from_is_found_as_requests_name_it) {
  VerbsRig rig(kPiece);
  const std::span<const std::byte> held(rig.held);
  const std::span<const std::byte> memory(rig.memory);
  const VerbsMemory& known = *rig.port->memory();
  // What peers read counts from its first byte.
  const LocalPiece served = known.find_source(held.subspan(100, 1000));
  BOOST_TEST(served.address == 100U);
  BOOST_TEST(served.length == 1000U);
  BOOST_TEST(rig.machine.region(served.key) ==
             rig.machine.region(static_cast<std::uint32_t>(rig.served->key())));
  const LocalPiece landing = known.find_source(memory.subspan(kPiece - 10, 100));
  BOOST_TEST(landing.address == reinterpret_cast<std::uint64_t>(memory.data()) + kPiece - 10);
  BOOST_TEST(landing.length == 10U);
  // Served twice, it is known until neither is left.
  auto twice = *rig.port->memory()->add(rig.held, MemoryUse::kServed);
  twice.reset();
  BOOST_TEST(known.find_source(held).length == rig.held.size());
  rig.served.reset();
  BOOST_TEST(known.find_source(held).length == 0U);
}

BOOST_AUTO_TEST_CASE(a_device_whose_reads_do_not_land_in_enough_pieces_is_refused) {
  const auto opened = [](int segments, std::uint64_t max_region_bytes) {
    ScriptedVerbs machine;
    machine.add_device("a", 1).attributes.max_sge_rd = segments;
    asio::io_context context;
    Executor executor("test", context);
    VerbsOptions options;
    options.device = "a";
    options.max_region_bytes = max_region_bytes;
    auto port = VerbsPort::open(machine.api(), executor, executor.asio_executor(), options);
    if (port.ok()) return Errc::kUnset;
    BOOST_TEST(machine.alive() == 0);
    return port.error().code();
  };
  BOOST_TEST((opened(0, 0) == Errc::kInvalidArgument));
  BOOST_TEST((opened(1, 0) == Errc::kUnset));
  BOOST_TEST((opened(1, kPiece) == Errc::kInvalidArgument));
  BOOST_TEST((opened(2, kPiece) == Errc::kUnset));
}

BOOST_AUTO_TEST_CASE(registering_everywhere_is_all_or_nothing) {
  VerbsRig rig;
  const MemoryRegistrars registrars = {rig.port->memory(), nullptr};
  std::vector<std::byte> bytes(4096);
  const std::size_t before = rig.machine.alive();
  {
    const auto registered = register_everywhere(registrars, bytes, MemoryUse::kServed);
    BOOST_TEST_REQUIRE(registered.ok());
    const auto keys = keys_of(*registered);
    BOOST_TEST_REQUIRE(keys.size() == 2);
    BOOST_TEST(keys[0] != 0);
    BOOST_TEST(keys[1] == 0);
  }
  BOOST_TEST(rig.machine.alive() == before);
  rig.machine.errors = {{"reg_mr", ENOMEM}};
  BOOST_TEST(!register_everywhere(registrars, bytes, MemoryUse::kServed).ok());
  BOOST_TEST(rig.machine.alive() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
