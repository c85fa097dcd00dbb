// What a connection does when the other end breaks the rules, says nothing, or reads nothing.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "rpc/codec.h"
#include "test/rpc/connection_support.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Sends bytes after the prefaces and expects the connection to say why it ends.
void check_refused(const Bytes& bytes, std::string_view because) {
  OneSide side;
  side.open();
  side.send(bytes);
  BOOST_TEST_CONTEXT(because) {
    BOOST_TEST(!side.right->usable());
    const auto [header, body] = side.receive();
    BOOST_TEST((header.kind == FrameKind::kError && header.id == 0));
    const Error error = decode_error(bytes_of(body));
    BOOST_TEST(error.detail().find(because) != std::string::npos);
    // The stream stays until the peer has had a second to read that, and no longer.
    BOOST_TEST(side.world.run(write(side.left.get(), bytes_of("more"))));
    const TimePoint begin = side.world.now();
    BOOST_TEST(side.world.run(read_to_end(side.left.get())).empty());
    BOOST_TEST((side.world.now() - begin == seconds(1)));
  }
}

Task<Called> call_of(Connection* connection, TimePoint deadline) {
  const CallOptions options{deadline, nullptr};
  auto called = co_await call(connection, kEcho, "x", options, false);
  co_return called;
}

BOOST_AUTO_TEST_SUITE(hostile_peers)

BOOST_AUTO_TEST_CASE(broken_frames_end_the_connection_with_a_reason) {
  const auto header = [](std::uint32_t length, FrameKind kind, Method method, std::uint64_t id) {
    const auto bytes = encode_header({length, kind, method, id});
    return Bytes(bytes.begin(), bytes.end());
  };
  const auto both = [](Bytes a, const Bytes& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  };
  check_refused(header(0xFFFFFFFF, FrameKind::kRequest, kEcho, 1), "4294967295 bytes");
  check_refused(header(1, FrameKind::kPing, Method::kNone, 0), "more than the 0 allowed");
  check_refused(header(0, static_cast<FrameKind>(77), kEcho, 1), "unknown kind 77");
  check_refused(header(0, FrameKind::kRequest, kEcho, 0), "without a call's id");
  check_refused(wire_frame(FrameKind::kAnswerEnd, kEcho, 1, "x"), "never made");
  check_refused(both(wire_frame(FrameKind::kRequest, kHold, 5, "x"),
                     wire_frame(FrameKind::kRequest, kHold, 5, "x")),
                "numbers must grow");
  check_refused(wire_frame(FrameKind::kNotify, Method::kRegionsChanged, 0, "bad"), "notification");
}

BOOST_AUTO_TEST_CASE(answers_with_a_wrong_method_are_refused) {
  OneSide side;
  side.open();
  const auto called = side.world.start(call_of(side.right.get(), side.world.now() + seconds(5)));
  BOOST_TEST((side.receive().first.kind == FrameKind::kRequest));
  side.send(wire_frame(FrameKind::kAnswerEnd, kFail, 1, "x"));
  BOOST_REQUIRE(failed_with(called, Errc::kProtocol));
  BOOST_TEST((*called)->result.error().detail().find("ConfirmAndRelease") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(late_answers_and_strange_cancels_are_ignored) {
  OneSide side;
  side.open();
  const auto called =
      side.world.start(call_of(side.right.get(), side.world.now() + milliseconds(10)));
  BOOST_TEST((side.receive().first.kind == FrameKind::kRequest));
  side.world.run_for(milliseconds(10));
  BOOST_TEST(failed_with(called, Errc::kDeadline));
  const auto [cancel, nothing] = side.receive();
  BOOST_TEST((cancel.kind == FrameKind::kCancel && cancel.id == 1));
  side.send(wire_frame(FrameKind::kAnswerPart, kEcho, 1, "x"));
  side.send(wire_frame(FrameKind::kAnswerEnd, kEcho, 1, "x"));
  side.send(wire_frame(FrameKind::kError, kEcho, 1, "x"));
  side.send(wire_frame(FrameKind::kCancel, kEcho, 99, ""));
  side.send(wire_frame(FrameKind::kPong, Method::kNone, 3, ""));
  BOOST_TEST(side.right->usable());
}

BOOST_AUTO_TEST_CASE(the_peers_last_words_become_the_reason) {
  OneSide side;
  side.open();
  const auto called = side.world.start(call_of(side.right.get(), side.world.now() + seconds(5)));
  FrameBuffer frame = encode_error(Error(Errc::kBusy, "too many sessions"));
  side.send(wire_frame(FrameKind::kError, Method::kNone, 0, text_of(frame.body())));
  BOOST_REQUIRE(failed_with(called, Errc::kBusy));
  BOOST_TEST((*called)->result.error().to_string() == "busy (peer memory:left): too many sessions");
}

BOOST_AUTO_TEST_CASE(silence_is_noticed_by_pings) {
  OneSide side;
  side.open();
  const TimePoint begin = side.world.now();
  const auto called = side.world.start(call_of(side.right.get(), begin + seconds(60)));
  BOOST_TEST((side.receive().first.kind == FrameKind::kRequest));
  for (const int at : {5, 10}) {
    BOOST_TEST((side.receive().first.kind == FrameKind::kPing));
    BOOST_TEST((side.world.now() == begin + seconds(at)));
  }
  BOOST_TEST(side.world.run(read_to_end(side.left.get())).empty());
  BOOST_TEST((side.world.now() == begin + seconds(15)));
  BOOST_REQUIRE(failed_with(called, Errc::kConnectionLost));
  BOOST_TEST((*called)->result.error().detail().find("15 s") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_peer_that_answers_pings_is_alive) {
  OneSide side;
  side.open();
  for (int i = 0; i < 20; ++i) {
    BOOST_TEST((side.receive().first.kind == FrameKind::kPing));
    side.send(wire_frame(FrameKind::kPong, Method::kNone, 0, ""));
  }
  BOOST_TEST(side.right->usable());
  // And so is one that only sends.
  for (int i = 0; i < 20; ++i) {
    side.send(wire_frame(FrameKind::kPing, Method::kNone, 0, ""));
    BOOST_TEST((side.receive().first.kind == FrameKind::kPong));
    side.world.run_for(seconds(4));
  }
  BOOST_TEST(side.right->usable());
}

BOOST_AUTO_TEST_CASE(two_idle_ends_keep_each_other_alive) {
  TwoSides sides;
  sides.world.run_for(std::chrono::minutes(10));
  BOOST_TEST((sides.client->usable() && sides.server->usable()));
}

BOOST_AUTO_TEST_CASE(a_full_send_queue_refuses) {
  ConnectionOptions options;
  options.send.max_bytes = 10'000;
  MemoryStreamOptions stream;
  stream.buffer_bytes = 100;
  OneSide side(options, stream);
  side.open();
  std::vector<VirtualWorld::Outcome<Called>> calls;
  for (int i = 0; i < 100; ++i) {
    calls.push_back(side.world.start(call_of(side.right.get(), side.world.now() + seconds(1))));
  }
  side.world.settle();
  BOOST_TEST(failed_with(calls.back(), Errc::kBusy));
  BOOST_TEST((*calls.back())->result.error().detail().find("send queue is full") !=
             std::string::npos);
  BOOST_TEST(!calls.front()->has_value());
  // A frame that never fits is told apart from one that does not fit now.
  const auto large =
      side.world.run(call(side.right.get(), kEcho, std::string(10'000, 'x'),
                          CallOptions{side.world.now() + seconds(1), nullptr}, false));
  BOOST_TEST((large.result.error().code() == Errc::kTooLarge));
}

BOOST_AUTO_TEST_CASE(a_peer_that_asks_but_does_not_read_is_not_served_on) {
  ConnectionOptions options;
  options.send.max_bytes = 10'000;
  MemoryStreamOptions stream;
  stream.buffer_bytes = 100;
  OneSide side(options, stream);
  side.open();
  for (std::uint64_t id = 1; id <= 50; ++id) {
    side.send(wire_frame(FrameKind::kRequest, kEcho, id, std::string(3000, 'x')));
  }
  // One is being written, two fit into the queue, one waits for room.
  BOOST_TEST(side.handler.served == 4);
  BOOST_TEST(side.right->usable());
  std::size_t answered = 0;
  for (int i = 0; i < 50; ++i) answered += side.receive().second.size() == 3000 ? 1 : 0;
  BOOST_TEST(answered == 4U);
}

BOOST_AUTO_TEST_CASE(a_flood_of_pings_without_reading_is_cut) {
  ConnectionOptions options;
  options.send.max_control_frames = 50;
  MemoryStreamOptions stream;
  stream.buffer_bytes = 64;
  OneSide side(options, stream);
  side.open();
  const Bytes ping = wire_frame(FrameKind::kPing, Method::kNone, 0, "");
  int sent = 0;
  while (side.right->usable() && sent < 1000) {
    ++sent;
    if (!side.world.run(write(side.left.get(), ping))) break;
    side.world.settle();
  }
  BOOST_TEST(sent < 100);
  const Error why = side.world.run(side.right->wait_ended());
  BOOST_TEST((why.code() == Errc::kConnectionLost));
}

BOOST_AUTO_TEST_CASE(closing_does_not_wait_for_a_peer_that_reads_nothing) {
  MemoryStreamOptions stream;
  stream.buffer_bytes = 64;
  OneSide side({}, stream);
  side.open();
  const auto called =
      side.world.start(call(side.right.get(), kEcho, std::string(1000, 'x'),
                            CallOptions{side.world.now() + seconds(60), nullptr}, false));
  side.world.settle();
  const TimePoint begin = side.world.now();
  BOOST_TEST(side.world.run(close(side.right.get())));
  BOOST_TEST((side.world.now() - begin == seconds(1)));
  BOOST_TEST(failed_with(called, Errc::kConnectionLost));
}

BOOST_AUTO_TEST_CASE(truncated_at_every_byte) {
  const Bytes frame = wire_frame(FrameKind::kRequest, kEcho, 1, "body");
  for (std::size_t size = 0; size < frame.size(); ++size) {
    OneSide side;
    side.open();
    side.send(Bytes(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size)));
    BOOST_TEST(side.right->usable());
    side.left->close();
    const Error why = side.world.run(side.right->wait_ended());
    BOOST_TEST((why.code() == Errc::kConnectionLost));
    BOOST_TEST(side.handler.served == 0);
  }
}

BOOST_AUTO_TEST_CASE(hostile_mutations) {
  Bytes valid;
  for (const Bytes& frame : {wire_frame(FrameKind::kRequest, kEcho, 1, "first"),
                             wire_frame(FrameKind::kRequest, kHold, 2, "second"),
                             wire_frame(FrameKind::kCancel, kHold, 2, ""),
                             wire_frame(FrameKind::kNotify, Method::kRegionsChanged, 0, "news"),
                             wire_frame(FrameKind::kPing, Method::kNone, 0, ""),
                             wire_frame(FrameKind::kRequest, kStream, 3, ""),
                             wire_frame(FrameKind::kRequest, kFail, 4, "")}) {
    valid.insert(valid.end(), frame.begin(), frame.end());
  }
  SeededRandom random(13);
  int survived = 0;
  for (int round = 0; round < 2000; ++round) {
    MemoryStreamOptions stream;
    stream.max_read_bytes = 1 + random.below(40);
    OneSide side({}, stream);
    side.open();
    const auto answers = side.world.start(read_to_end(side.left.get()));
    const Bytes bytes = mutated(valid, random);
    side.world.run(write(side.left.get(), bytes));
    side.world.settle();
    survived += side.right->usable() ? 1 : 0;
    side.world.run(close(side.right.get()));
    side.world.settle();
    BOOST_REQUIRE(answers->has_value());
    BOOST_REQUIRE((*answers)->size() < 2000U);
  }
  BOOST_TEST((survived > 0 && survived < 2000));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
