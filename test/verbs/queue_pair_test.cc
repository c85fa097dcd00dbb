#include "engine/verbs/queue_pair.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "engine/verbs/memory_key.h"
#include "test/verbs/scripted_verbs.h"

namespace corail {
namespace {

using test::ScriptedVerbs;

constexpr std::size_t kBytes = 8192;

/// One device, and a queue pair of each side on it.
struct Loop {
  Loop() {
    machine.add_device("a", 1);
    auto device = *Device::open(machine.api(), "a");
    pd = *ProtectionDomain::make(device);
    completions = *CompletionQueue::make(device, 1000);
    sizes = clamp_queue(device->limits());
    for (std::size_t i = 0; i < kBytes; ++i) held[i] = static_cast<std::byte>(i * 7);
    local = *MemoryKey::make(pd, landed, MemoryAccess::kLandReads);
    remote = *MemoryKey::make(pd, held, MemoryAccess::kRemoteRead);
  }

  void connect() {
    asking = *QueuePair::make(pd, *completions, PathTuning(), 1, sizes, PeerMay::kNothing);
    serving = *QueuePair::make(pd, *completions, PathTuning(), 1, sizes, PeerMay::kRead);
    QueuePairPath path;
    path.mtu_bytes = 4096;
    path.own_psn = 5;
    path.peer_psn = 6;
    path.peer_number = serving->number();
    QueuePairPath back = path;
    std::swap(back.own_psn, back.peer_psn);
    back.peer_number = asking->number();
    BOOST_TEST_REQUIRE(serving->answer(back).ok());
    BOOST_TEST_REQUIRE(asking->answer(path).ok());
    BOOST_TEST_REQUIRE(asking->send(path).ok());
  }

  /// READs of 1 KiB each at [i KiB, (i + 1) KiB), in two pieces; the last asks for a completion.
  std::size_t post(std::uint64_t count) {
    std::vector<std::array<LocalPiece, 2>> pieces(count);
    std::vector<ReadWork> reads(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto address = reinterpret_cast<std::uint64_t>(landed.data()) + i * 1024;
      pieces[i][0] = {address, 1000, local->local()};
      pieces[i][1] = {address + 1000, 24, local->local()};
      reads[i].request = 100 + i;
      reads[i].remote_address = i * 1024;
      reads[i].remote_key = remote->remote();
      reads[i].signalled = i + 1 == count;
      reads[i].pieces = pieces[i];
    }
    return asking->post(reads, why);
  }

  std::vector<Completion> poll() {
    std::array<Completion, CompletionQueue::kBatch> batch;
    const auto count = completions->poll(batch);
    BOOST_TEST_REQUIRE(count.ok());
    return {batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(*count)};
  }

  ScriptedVerbs machine;
  std::vector<std::byte> held = std::vector<std::byte>(kBytes);
  std::vector<std::byte> landed = std::vector<std::byte>(kBytes);
  std::shared_ptr<const ProtectionDomain> pd;
  std::unique_ptr<const MemoryKey> local;
  std::unique_ptr<const MemoryKey> remote;
  std::unique_ptr<CompletionQueue> completions;
  QueueSizes sizes;
  std::unique_ptr<QueuePair> asking;
  std::unique_ptr<QueuePair> serving;
  Error why;
};

BOOST_AUTO_TEST_SUITE(queue_pairs)

BOOST_AUTO_TEST_CASE(a_chain_lands_and_its_last_read_tells) {
  Loop loop;
  loop.connect();
  BOOST_TEST(loop.post(8) == 8);
  BOOST_TEST(loop.machine.calls["post_send"] == 1);
  BOOST_TEST(loop.machine.run_all() == 8);
  const auto completions = loop.poll();
  BOOST_TEST_REQUIRE(completions.size() == 1);
  BOOST_TEST(completions[0].request == 107);
  BOOST_TEST((blame_of(completions[0].status) == Blame::kNone));
  BOOST_TEST(loop.landed == loop.held);
}

BOOST_AUTO_TEST_CASE(what_the_device_did_not_take_is_known) {
  Loop loop;
  loop.sizes.requests = 3;
  loop.connect();
  BOOST_TEST(loop.post(8) == 3);
  BOOST_TEST((loop.why.code() == Errc::kOutOfMemory));
  loop.machine.errors = {{"post_send", EIO}};
  BOOST_TEST(loop.post(2) == 0);
  BOOST_TEST((loop.why.code() == Errc::kRailFailed));
  loop.machine.run_all();
}

BOOST_AUTO_TEST_CASE(failing_it_flushes_all_that_is_posted) {
  Loop loop;
  loop.connect();
  BOOST_TEST(loop.post(3) == 3);
  BOOST_TEST(loop.asking->fail().ok());
  const auto completions = loop.poll();
  BOOST_TEST_REQUIRE(completions.size() == 3);
  for (const Completion& completion : completions) {
    BOOST_TEST((blame_of(completion.status) == Blame::kFlushed));
  }
}

BOOST_AUTO_TEST_CASE(a_peer_that_serves_nothing_refuses) {
  Loop loop;
  loop.connect();
  loop.machine.pair(loop.serving->number())->attributes.qp_access_flags = 0;
  BOOST_TEST(loop.post(2) == 2);
  loop.machine.run_all();
  const auto completions = loop.poll();
  BOOST_TEST_REQUIRE(completions.size() == 2);
  BOOST_TEST((blame_of(completions[0].status) == Blame::kPeer));
  BOOST_TEST((blame_of(completions[1].status) == Blame::kFlushed));
}

BOOST_AUTO_TEST_CASE(steps_that_a_device_refuses_are_errors) {
  Loop loop;
  loop.machine.errors = {{"create_qp", ENOMEM}};
  BOOST_TEST(
      !QueuePair::make(loop.pd, *loop.completions, PathTuning(), 1, loop.sizes, PeerMay::kRead)
           .ok());
  loop.machine.errors = {{"modify_qp:1", EINVAL}};
  BOOST_TEST(
      !QueuePair::make(loop.pd, *loop.completions, PathTuning(), 1, loop.sizes, PeerMay::kRead)
           .ok());
  BOOST_TEST(loop.machine.pairs().empty());
  loop.machine.errors.clear();
  loop.connect();
  loop.machine.errors = {{"destroy_qp", EBUSY}};
  BOOST_TEST(!loop.asking->destroy().ok());
  loop.machine.errors.clear();
  BOOST_TEST(loop.asking->destroy().ok());
  BOOST_TEST(loop.asking->destroy().ok());
  BOOST_TEST(loop.machine.calls["destroy_qp"] == 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
