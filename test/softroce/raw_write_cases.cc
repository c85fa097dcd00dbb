// Bare queue pairs whose target is given up in the middle of what its peer writes. That ERR alone
// lets bytes through afterwards is what makes the fence's other tests worth something.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/units.h"
#include "engine/memory/slab.h"
#include "engine/verbs/completion_queue.h"
#include "engine/verbs/memory_key.h"
#include "engine/verbs/path_choice.h"
#include "engine/verbs/queue_pair.h"
#include "engine/verbs/verbs_api.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::uint64_t kWrites = 32;
constexpr std::uint64_t kWriteBytes = 32 * kKiB;
constexpr std::uint64_t kAllBytes = kWrites * kWriteBytes;
constexpr std::uint64_t kPacketBytes = 4 * kKiB;
constexpr std::byte kOld{0x00};
constexpr std::byte kNew{0x5A};
constexpr std::uint64_t kReceive = 1'000'000;
constexpr int kRounds = 1500;
/// What a busy host does not get through by then is left out, and told.
constexpr auto kCaseTime = std::chrono::seconds(100);
/// More of them say nothing more.
constexpr int kEnoughLate = 10;
/// The thread that writes for the device may be stopped in the middle of a packet, for as long as a
/// busy host likes.
constexpr milliseconds kLateWriteTime{20};

enum class Fence { kErrOnly, kWhole };

std::unique_ptr<Slab> slab_of(std::byte with) {
  SlabOptions options;
  options.bytes = kAllBytes;
  auto slab = Slab::create(options);
  BOOST_TEST_REQUIRE(slab.ok());
  std::memset((*slab)->data(), std::to_integer<int>(with), kAllBytes);
  return std::move(*slab);
}

/// A queue pair that writes to another on the same device.
struct RawWriter {
  RawWriter() {
    device = *Device::open(system_verbs(), "rxe0");
    pd = *ProtectionDomain::make(device);
    completions = *CompletionQueue::make(device, 4096);
    sizes = clamp_queue(device->limits());
    source = slab_of(kNew);
    target = slab_of(kOld);
    const std::span<std::byte> from(source->data(), kAllBytes);
    const std::span<std::byte> to(target->data(), kAllBytes);
    local = *MemoryKey::make(pd, from, MemoryAccess::kLandReads);
    remote = *MemoryKey::make(pd, to, MemoryAccess::kPeerWrites);
    const auto facts = *device->port(1);
    const auto gids = *device->gids(1);
    const auto gid = *choose_gid(gids, facts.link, std::nullopt, "rxe0:1");
    path.link = facts.link;
    path.mtu_bytes = facts.mtu_bytes;
    path.gid_index = gid.index;
    path.peer_gid = gid.gid;
    path.peer_lid = facts.lid;
  }

  void connect() {
    writer = *QueuePair::make(pd, *completions, PathTuning(), 1, sizes, PeerMay::kNothing);
    written = *QueuePair::make(pd, *completions, PathTuning(), 1, sizes, PeerMay::kWrite);
    QueuePairPath there = path;
    there.peer_number = written->number();
    QueuePairPath back = path;
    back.peer_number = writer->number();
    BOOST_TEST_REQUIRE(written->answer(back).ok());
    BOOST_TEST_REQUIRE(written->send(back).ok());
    BOOST_TEST_REQUIRE(writer->answer(there).ok());
    BOOST_TEST_REQUIRE(writer->send(there).ok());
    BOOST_TEST_REQUIRE(written->receive(kReceive).ok());
  }

  void write_all() {
    for (std::uint64_t i = 0; i < kWrites; ++i) {
      WriteWork work;
      work.request = i;
      work.remote_address = reinterpret_cast<std::uint64_t>(target->data()) + i * kWriteBytes;
      work.remote_key = remote->remote();
      work.piece.address = reinterpret_cast<std::uint64_t>(source->data()) + i * kWriteBytes;
      work.piece.length = kWriteBytes;
      work.piece.key = local->local();
      BOOST_TEST_REQUIRE(writer->write(work).ok());
    }
  }

  /// How much has landed. WRITEs land in order, so that looking at few packets finds the last: it
  /// has to be known before the next one can have come.
  std::uint64_t landed() const {
    const std::byte* const bytes = target->data();
    std::uint64_t begin = 0;
    std::uint64_t end = kAllBytes / kPacketBytes;
    while (begin < end) {
      const std::uint64_t middle = (begin + end) / 2;
      if (static_cast<const volatile std::byte&>(bytes[middle * kPacketBytes]) == kNew) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    if (begin == 0) return 0;
    const std::byte* const last = bytes + (begin - 1) * kPacketBytes;
    return (begin - 1) * kPacketBytes +
           static_cast<std::uint64_t>(std::count(last, last + kPacketBytes, kNew));
  }

  /// Takes completions until that of the RECV; false: it does not come.
  bool wait_for_receive() {
    const auto give_up = steady_clock::now() + std::chrono::seconds(5);
    while (steady_clock::now() < give_up) {
      std::array<Completion, CompletionQueue::kBatch> batch;
      const auto count = completions->poll(batch);
      BOOST_TEST_REQUIRE(count.ok());
      for (std::size_t i = 0; i < *count; ++i) {
        if (batch[i].request == kReceive) return true;
      }
    }
    return false;
  }

  /// How long it takes to write everything, in microseconds.
  std::uint64_t time_of_all() {
    connect();
    const auto began = steady_clock::now();
    write_all();
    while (landed() < kAllBytes && steady_clock::now() < began + std::chrono::seconds(10)) continue;
    const auto took = steady_clock::now() - began;
    BOOST_TEST_REQUIRE(landed() == kAllBytes);
    disconnect();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<microseconds>(took).count());
  }

  void disconnect() {
    if (written) BOOST_TEST(written->destroy().ok());
    BOOST_TEST(writer->destroy().ok());
    written.reset();
    writer.reset();
    std::array<Completion, CompletionQueue::kBatch> batch;
    while (true) {
      const auto count = completions->poll(batch);
      BOOST_TEST_REQUIRE(count.ok());
      if (*count == 0) break;
    }
  }

  std::shared_ptr<const Device> device;
  std::shared_ptr<const ProtectionDomain> pd;
  std::unique_ptr<CompletionQueue> completions;
  QueueSizes sizes;
  std::unique_ptr<Slab> source;
  std::unique_ptr<Slab> target;
  std::unique_ptr<const MemoryKey> local;
  std::unique_ptr<const MemoryKey> remote;
  QueuePairPath path;
  std::unique_ptr<QueuePair> writer;
  std::unique_ptr<QueuePair> written;
};

struct Told {
  int rounds = 0;  // that ended in the middle
  int late = 0;    // of those, with bytes behind it
  std::uint64_t bytes = 0;
};

Told give_up_often(Fence fence) {
  RawWriter raw;
  SeededRandom random(31);
  const std::uint64_t whole = raw.time_of_all();
  Told told;
  const auto until = steady_clock::now() + kCaseTime;
  for (int round = 0; round < kRounds && told.late < kEnoughLate && steady_clock::now() < until;
       ++round) {
    std::memset(raw.target->data(), std::to_integer<int>(kOld), kAllBytes);
    raw.connect();
    raw.write_all();
    // Without a look at what has landed: who sees progress knows that the device's thread runs.
    const auto when = steady_clock::now() + microseconds(random.below(whole));
    while (steady_clock::now() < when) continue;
    BOOST_TEST_REQUIRE(raw.written->fail().ok());
    if (fence == Fence::kWhole) {
      BOOST_TEST_REQUIRE(raw.wait_for_receive());
      BOOST_TEST_REQUIRE(raw.written->destroy().ok());
      raw.written.reset();
    }
    const std::uint64_t before = raw.landed();
    std::this_thread::sleep_for(kLateWriteTime);
    const std::uint64_t after = raw.landed();
    raw.disconnect();
    if (after == 0 || before == kAllBytes) continue;
    ++told.rounds;
    told.late += after > before ? 1 : 0;
    told.bytes += after - before;
  }
  return told;
}

BOOST_AUTO_TEST_SUITE(raw_writes)

BOOST_AUTO_TEST_CASE(err_alone) {
  const Told told = give_up_often(Fence::kErrOnly);
  fmt::print("ERR alone: {} of {} rounds with late bytes, {} bytes{}\n", told.late, told.rounds,
             told.bytes, told.late == 0 ? "; not reproduced" : "");
  BOOST_TEST(told.rounds > 0);
}

BOOST_AUTO_TEST_CASE(the_whole_fence) {
  const Told told = give_up_often(Fence::kWhole);
  fmt::print("ERR, the flush of a RECV and destroying: {} of {} rounds with late bytes, {} bytes\n",
             told.late, told.rounds, told.bytes);
  BOOST_TEST(told.rounds > 0);
  BOOST_TEST(told.late == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
