#include "engine/verbs/device.h"

#include <poll.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <string>
#include <vector>

#include "engine/verbs/completion_queue.h"
#include "engine/verbs/memory_key.h"
#include "engine/verbs/protection_domain.h"
#include "test/verbs/scripted_verbs.h"

namespace corail {
namespace {

using test::ScriptedVerbs;

BOOST_AUTO_TEST_SUITE(devices)

BOOST_AUTO_TEST_CASE(an_unknown_name_is_told_what_there_is) {
  ScriptedVerbs machine;
  const auto none = Device::open(machine.api(), "mlx5_0");
  BOOST_TEST_REQUIRE(!none.ok());
  BOOST_TEST((none.error().code() == Errc::kUnknownName));
  BOOST_TEST(none.error().detail().find("no other on this machine") != std::string::npos);
  machine.add_device("a", 1);
  machine.add_device("b", 2);
  const auto other = Device::open(machine.api(), "c");
  BOOST_TEST_REQUIRE(!other.ok());
  BOOST_TEST(other.error().detail().find("a, b") != std::string::npos);
  BOOST_TEST(device_names(machine.api()).size() == 2);
}

BOOST_AUTO_TEST_CASE(it_says_what_it_is) {
  ScriptedVerbs machine;
  auto& fake = machine.add_device("a", 9);
  fake.attributes.max_qp_rd_atom = 5;
  fake.attributes.max_qp_init_rd_atom = 3;
  const auto device = Device::open(machine.api(), "a");
  BOOST_TEST_REQUIRE(device.ok());
  BOOST_TEST((*device)->limits().max_reads_sent == 3);
  BOOST_TEST((*device)->limits().max_reads_answered == 5);
  const auto port = (*device)->port(1);
  BOOST_TEST_REQUIRE(port.ok());
  BOOST_TEST(port->active);
  BOOST_TEST((port->link == LinkLayer::kEthernet));
  BOOST_TEST(port->mtu_bytes == 4096);
  BOOST_TEST(port->max_message_bytes == 1ULL << 31);
  BOOST_TEST(!(*device)->port(0).ok());
  BOOST_TEST(!(*device)->port(2).ok());
  const auto gids = (*device)->gids(1);
  BOOST_TEST_REQUIRE(gids.ok());
  BOOST_TEST(gids->size() == 2);
  BOOST_TEST((gids->at(1).type == GidType::kRoceV2));
  BOOST_TEST(int{gids->at(1).gid[15]} == 9);
}

BOOST_AUTO_TEST_CASE(whatever_goes_last_takes_the_device_with_it) {
  ScriptedVerbs machine;
  machine.add_device("a", 1);
  std::vector<std::byte> bytes(8192);
  {
    auto device = *Device::open(machine.api(), "a");
    auto pd = *ProtectionDomain::make(device);
    auto key = *MemoryKey::make(pd, bytes, MemoryAccess::kRemoteRead);
    auto queue = *CompletionQueue::make(device, 100);
    device.reset();
    pd.reset();
    queue.reset();
    BOOST_TEST(machine.alive() == 3);
  }
  BOOST_TEST(machine.alive() == 0);
  BOOST_TEST(machine.breaches().empty());
}

BOOST_AUTO_TEST_CASE(every_failure_leaves_nothing_behind) {
  ScriptedVerbs machine;
  machine.add_device("a", 1);
  std::vector<std::byte> bytes(4096);
  for (const char* call :
       {"open_device", "query_device", "alloc_pd", "reg_mr", "create_comp_channel", "create_cq"}) {
    machine.errors = {{call, ENOMEM}};
    bool failed = true;
    const auto device = Device::open(machine.api(), "a");
    if (device.ok()) {
      const auto pd = ProtectionDomain::make(*device);
      const bool keyed = pd.ok() && MemoryKey::make(*pd, bytes, MemoryAccess::kLandReads).ok();
      failed = !keyed || !CompletionQueue::make(*device, 100).ok();
    } else {
      BOOST_TEST((device.error().code() == Errc::kOutOfMemory), call);
    }
    BOOST_TEST(failed, call);
  }
  BOOST_TEST(machine.alive() == 0);
  BOOST_TEST(machine.breaches().empty());
}

BOOST_AUTO_TEST_CASE(memory_beyond_the_devices_limit_is_refused_in_words) {
  ScriptedVerbs machine;
  machine.add_device("a", 1).attributes.max_mr_size = 4096;
  const auto pd = *ProtectionDomain::make(*Device::open(machine.api(), "a"));
  std::vector<std::byte> bytes(8192);
  const auto key = MemoryKey::make(pd, bytes, MemoryAccess::kLandReads);
  BOOST_TEST_REQUIRE(!key.ok());
  BOOST_TEST((key.error().code() == Errc::kTooLarge));
}

BOOST_AUTO_TEST_CASE(a_queue_is_no_larger_than_the_device_has) {
  ScriptedVerbs machine;
  machine.add_device("a", 1).attributes.max_cqe = 50;
  const auto queue = CompletionQueue::make(*Device::open(machine.api(), "a"), 100);
  BOOST_TEST_REQUIRE(queue.ok());
  BOOST_TEST((*queue)->capacity() == 50);
}

BOOST_AUTO_TEST_CASE(events_that_nobody_took_do_not_block_the_end) {
  ScriptedVerbs machine;
  machine.add_device("a", 1);
  {
    const auto queue = *CompletionQueue::make(*Device::open(machine.api(), "a"), 100);
    auto pd = *ProtectionDomain::make(*Device::open(machine.api(), "a"));
    ibv_qp_init_attr attributes{};
    attributes.send_cq = attributes.recv_cq = queue->handle();
    ibv_qp* const qp = machine.api().create_qp(pd->handle(), &attributes);
    for (int i = 0; i < 3; ++i) {
      BOOST_TEST(queue->arm().ok());
      machine.invent(*machine.pairs().front(), 1);
    }
    pollfd ready{queue->descriptor(), POLLIN, 0};
    BOOST_TEST(::poll(&ready, 1, 0) == 1);
    queue->take_events();
    BOOST_TEST(::poll(&ready, 1, 0) == 0);
    BOOST_TEST(queue->arm().ok());
    machine.invent(*machine.pairs().front(), 2);
    machine.api().destroy_qp(qp);
  }
  BOOST_TEST(machine.breaches().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
