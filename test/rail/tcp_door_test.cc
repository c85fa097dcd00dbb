#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/exec/task_scope.h"
#include "test/rail/recording_sink.h"
#include "test/rail/run_task.h"
#include "test/rail/tcp_rig.h"
#include "test/support/fake_holder.h"
#include "test/support/pattern.h"

namespace corail::test {
namespace {

/// Reads until the door has closed; the number of bytes that came.
Task<std::uint64_t> drain(DataSocket& socket) {
  std::vector<std::byte> bytes(64 * kKiB);
  std::uint64_t total = 0;
  while (true) {
    iovec target{bytes.data(), bytes.size()};
    const Transferred moved = socket.receive(std::span(&target, 1));
    if (moved.state == Transferred::State::kLater) {
      co_await socket.readable();
      continue;
    }
    if (moved.state != Transferred::State::kSome) co_return total;
    total += moved.bytes;
  }
}

/// A door that serves a well-behaved requester although others do what they like.
Task<void> serve_one_honest_slice(TcpRig& rig) {
  const auto transport = rig.make_transport(1);
  const auto connected = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST(connected.ok());
  std::vector<std::byte> memory(100'000);
  RecordingSink sink(rig.context.get_executor());
  transport->post(kRead, slices_over(memory, memory.size(), 0), sink);
  co_await sink.outcomes(1);
  BOOST_TEST(sink.count(Errc::kUnset) == 1U);
  BOOST_TEST(!first_difference(memory, MemoryGate::kSeed, 0));
  co_await transport->close();
}

Task<void> speak_foreign_protocols(TcpRig& rig) {
  using namespace std::string_view_literals;
  for (const std::string_view greeting :
       {"GET / HTTP/1.1\r\nHost: x\r\n\r\n"sv, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"sv,
        "SSH-2.0-OpenSSH_9.2\r\n"sv, "\0"sv, "corail!!"sv}) {
    const auto socket = co_await dial(rig.context, rig.endpoint);
    BOOST_TEST((socket != nullptr));
    co_await socket->send_all(std::as_bytes(std::span(greeting)));
    const std::uint64_t answered = co_await drain(*socket);
    BOOST_TEST(answered == 0U);
  }
  co_await serve_one_honest_slice(rig);
  co_await rig.door.close();
}

Task<void> speak_another_version(TcpRig& rig, std::uint32_t version, std::size_t length) {
  const auto socket = co_await dial(rig.context, rig.endpoint);
  ChannelPreface preface;
  preface.version = version;
  const ChannelPrefaceBytes bytes = encode(preface);
  co_await socket->send_all(std::span(bytes).first(length));
  ChannelPrefaceAnswerBytes answered{};
  co_await socket->receive_all(std::span(answered));
  const auto answer = decode_channel_preface_answer(answered);
  BOOST_TEST((answer.ok() && answer->answer == ChannelAnswer::kOtherVersion));
  BOOST_TEST((answer.ok() && answer->version == kChannelVersion));
  const std::uint64_t more = co_await drain(*socket);
  BOOST_TEST(more == 0U);
  co_await rig.door.close();
}

/// As many silent strangers as the door bears, and more, lock out nobody: the oldest goes.
Task<void> crowd_the_door(TcpRig& rig) {
  std::vector<std::unique_ptr<DataSocket>> silent;
  for (std::size_t i = 0; i < kMaxHalfOpen + 10; ++i) {
    auto socket = co_await dial(rig.context, rig.endpoint);
    silent.push_back(std::move(socket));
  }
  co_await serve_one_honest_slice(rig);
  const auto state_of = [](DataSocket& socket) {
    std::byte byte{};
    iovec target{&byte, 1};
    return socket.receive(std::span(&target, 1)).state;
  };
  for (std::size_t i = 0; i < 10; ++i) {
    BOOST_TEST((state_of(*silent[i]) == Transferred::State::kEnded));
  }
  BOOST_TEST((state_of(*silent.back()) == Transferred::State::kLater));
  co_await rig.door.close();
}

/// Silent connections are closed at their deadline.
Task<void> say_nothing(TcpRig& rig) {
  std::vector<std::unique_ptr<DataSocket>> silent;
  for (std::size_t i = 0; i < 10; ++i) {
    auto socket = co_await dial(rig.context, rig.endpoint);
    silent.push_back(std::move(socket));
  }
  for (const auto& socket : silent) {
    const std::uint64_t late = co_await drain(*socket);
    BOOST_TEST(late == 0U);
  }
  co_await serve_one_honest_slice(rig);
  co_await rig.door.close();
}

/// Anything at all in place of requests, from somebody who knows the token.
Task<void> send_garbage(TcpRig& rig, std::uint64_t seed) {
  SeededRandom random(seed);
  const auto socket = co_await dial_in(rig.context, rig.endpoint);
  BOOST_TEST((socket != nullptr));
  std::vector<std::byte> garbage(1 + random.below(4000));
  for (std::byte& byte : garbage) byte = static_cast<std::byte>(random.next());
  if (seed % 2 == 0) {
    // Half of them begin with a READ that is well formed and asks for nonsense.
    Request read;
    read.region = RegionId(static_cast<std::uint32_t>(random.next()));
    read.op = OpKey::unpack(random.next());
    read.offset = random.below(1ULL << 62);
    read.length = 1 + random.below(kMaxReadBytes);
    const RequestBytes bytes = encode(read);
    garbage.insert(garbage.begin(), bytes.begin(), bytes.end());
  }
  co_await socket->send_all(std::span<const std::byte>(garbage));
  // Less than a request is no breach yet, so hang up.
  if (garbage.size() < 2 * kRequestBytes) co_return;
  co_await drain(*socket);
}

Task<void> survive_garbage(TcpRig& rig) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) co_await send_garbage(rig, seed);
  co_await serve_one_honest_slice(rig);
  co_await rig.door.close();
  BOOST_TEST(rig.gate.pins() == 0U);
}

Task<void> ask_for_too_much(TcpRig& rig) {
  const auto socket = co_await dial_in(rig.context, rig.endpoint);
  std::vector<std::byte> requests;
  // Many more than the bound, because the door serves some while it reads.
  for (std::uint32_t i = 0; i < 2 * kMaxQueuedReads; ++i) {
    Request read;
    read.region = MemoryGate::kRegion;
    read.op.slot = i;
    read.length = rig.gate.size();
    const RequestBytes bytes = encode(read);
    requests.insert(requests.end(), bytes.begin(), bytes.end());
  }
  co_await socket->send_all(std::span<const std::byte>(requests));
  const std::uint64_t received = co_await drain(*socket);
  BOOST_TEST(received < kMaxQueuedReads * rig.gate.size());
  // The holder's side of the channel ends a few handlers after its socket was closed.
  for (int i = 0; i < 100 && rig.gate.pins() > 0; ++i) {
    co_await asio::post(rig.context.get_executor(), asio::use_awaitable);
  }
  BOOST_TEST(rig.gate.pins() == 0U);
  co_await serve_one_honest_slice(rig);
  co_await rig.door.close();
}

/// A requester that does not read holds a pin for as long as the session lives, and no longer.
Task<void> drop_a_stalled_session(TcpRig& rig) {
  const auto socket = co_await dial_in(rig.context, rig.endpoint);
  Request read;
  read.region = MemoryGate::kRegion;
  read.length = rig.gate.size();
  const RequestBytes bytes = encode(read);
  co_await socket->send_all(std::span(bytes));
  co_await socket->readable();
  BOOST_TEST(rig.gate.pins() > 0U);
  co_await rig.door.drop_session(kSession);
  BOOST_TEST(rig.gate.pins() == 0U);
  const std::uint64_t received = co_await drain(*socket);
  BOOST_TEST(received < rig.gate.size());
  const auto transport = rig.make_transport(1);
  const auto again = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST((!again.ok() && again.error().code() == Errc::kRefused));
  co_await rig.door.drop_session(kSession);
  co_await rig.door.close();
}

/// Lets everything that is ready on this thread run.
Task<void> settle(asio::io_context& context) {
  for (int round = 0; round < 200; ++round) {
    co_await asio::post(context, asio::use_awaitable);
  }
}

/// A session's requester that never receives, although the session lives.
Task<void> stall_a_living_session(asio::io_context& context, ManualClock& clock, TcpRailDoor& door,
                                  MemoryGate& gate, Duration stall_time) {
  const RailEndpoint endpoint = door.admit_session(kSession, TcpRig::token(), gate);
  const auto socket = co_await dial_in(context, endpoint);
  Request read;
  read.region = MemoryGate::kRegion;
  read.length = gate.size();
  const RequestBytes bytes = encode(read);
  co_await socket->send_all(std::span(bytes));
  co_await socket->readable();
  co_await settle(context);
  BOOST_TEST(gate.pins() > 0U);
  // Receiving a little does not count.
  std::vector<std::byte> little(1000);
  co_await socket->receive_all(std::span(little));
  clock.advance(stall_time - std::chrono::milliseconds(1));
  co_await settle(context);
  BOOST_TEST(gate.pins() > 0U);
  clock.advance(std::chrono::milliseconds(1));
  co_await settle(context);
  BOOST_TEST(gate.pins() == 0U);
  co_await door.close();
  const std::uint64_t received = co_await drain(*socket);
  BOOST_TEST(received < gate.size());
}

BOOST_AUTO_TEST_SUITE(tcp_door)

BOOST_AUTO_TEST_CASE(a_requester_that_does_not_receive_keeps_no_pin_for_ever) {
  TcpOptions options = TcpRig::loopback_options();
  options.send_buffer = 128 * kKiB;
  options.receive_buffer = 128 * kKiB;
  asio::io_context context;
  ManualClock clock;
  MemoryGate gate(32 * kMiB);
  TcpRailDoor door(context.get_executor(), clock, options);
  BOOST_TEST_REQUIRE(door.open().ok());
  run_task(context, stall_a_living_session(context, clock, door, gate, options.stall_time));
}

BOOST_AUTO_TEST_CASE(foreign_protocols_are_closed_without_an_answer) {
  TcpRig rig(kMiB);
  run_task(rig.context, speak_foreign_protocols(rig));
}

BOOST_AUTO_TEST_CASE(another_version_is_told_ours) {
  // The first version's preface is shorter; a later one's, of which the door reads no more, longer.
  for (const std::uint32_t version : {1U, kChannelVersion + 1}) {
    TcpRig rig(kMiB);
    const std::size_t length = version == 1 ? kLeastPrefaceBytes : kChannelPrefaceBytes;
    run_task(rig.context, speak_another_version(rig, version, length));
  }
}

BOOST_AUTO_TEST_CASE(a_crowd_of_strangers_locks_out_nobody) {
  TcpOptions options = TcpRig::loopback_options();
  options.preface_time = std::chrono::minutes(10);
  TcpRig rig(kMiB, options);
  run_task(rig.context, crowd_the_door(rig));
}

BOOST_AUTO_TEST_CASE(silent_connections_are_bounded_in_time) {
  TcpOptions options = TcpRig::loopback_options();
  options.preface_time = std::chrono::milliseconds(300);
  TcpRig rig(kMiB, options);
  run_task(rig.context, say_nothing(rig));
}

BOOST_AUTO_TEST_CASE(garbage_harms_nobody_else) {
  TcpRig rig(kMiB);
  run_task(rig.context, survive_garbage(rig));
}

BOOST_AUTO_TEST_CASE(more_requests_than_the_bound_close_the_channel) {
  TcpRig rig(8 * kMiB);
  run_task(rig.context, ask_for_too_much(rig));
}

BOOST_AUTO_TEST_CASE(dropping_a_session_lets_go_of_every_pin) {
  TcpOptions options = TcpRig::loopback_options();
  options.send_buffer = 128 * 1024;
  options.receive_buffer = 128 * 1024;
  TcpRig rig(32 * kMiB, options);
  run_task(rig.context, drop_a_stalled_session(rig));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
