#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>
#include <span>
#include <string>
#include <vector>

#include "engine/exec/task_scope.h"
#include "test/rail/recording_sink.h"
#include "test/rail/run_task.h"
#include "test/rail/tcp_rig.h"
#include "test/support/canary.h"
#include "test/support/fake_holder.h"
#include "test/support/pattern.h"
#include "test/support/resource_census.h"

namespace corail::test {
namespace {

Task<Error> connect_failure(TcpRig& rig, RailEndpoint endpoint) {
  const auto transport = rig.make_transport(2);
  const auto connected = co_await transport->connect(endpoint, rig.soon());
  BOOST_TEST(!connected.ok());
  BOOST_TEST(!transport->usable());
  co_await transport->close();
  if (connected.ok()) co_return Error();
  co_return connected.error();
}

Task<void> connect_to_the_wrong_place(TcpRig& rig) {
  RailEndpoint forged = rig.endpoint;
  forged.token[15] ^= 1;
  const Error refused = co_await connect_failure(rig, forged);
  BOOST_TEST((refused.code() == Errc::kRefused), refused.to_string());
  BOOST_TEST(refused.peer().find("127.0.0.1:") != std::string::npos);

  RailEndpoint nobody = rig.endpoint;
  {
    FakeHolder gone(rig.context);
    nobody.port = gone.endpoint().port;
  }
  const Error unreachable = co_await connect_failure(rig, nobody);
  BOOST_TEST((unreachable.code() == Errc::kConnectFailed), unreachable.to_string());

  rig.options.local_address = "203.0.113.7";
  const Error not_ours = co_await connect_failure(rig, rig.endpoint);
  BOOST_TEST((not_ours.code() == Errc::kConnectFailed), not_ours.to_string());
  BOOST_TEST(not_ours.detail().find("203.0.113.7") != std::string::npos);
  rig.options.local_address = "eth0";
  const Error no_address = co_await connect_failure(rig, rig.endpoint);
  BOOST_TEST((no_address.code() == Errc::kInvalidArgument), no_address.to_string());
  co_await rig.door.close();
}

/// Whatever listens there, it is no door of ours.
Task<void> connect_to_others(TcpRig& rig) {
  FakeHolder newer(rig.context);
  TaskScope scope(rig.context.get_executor());
  ChannelPrefaceAnswer answer;
  answer.version = kChannelVersion + 1;
  scope.spawn(newer.accept_with(answer));
  const Error incompatible = co_await connect_failure(rig, newer.endpoint());
  BOOST_TEST((incompatible.code() == Errc::kIncompatible), incompatible.to_string());
  BOOST_TEST(incompatible.detail().find("version 3") != std::string::npos);
  co_await scope.join();
  FakeHolder echoing(rig.context);
  scope.spawn(echoing.echo());
  const Error foreign = co_await connect_failure(rig, echoing.endpoint());
  BOOST_TEST((foreign.code() == Errc::kProtocol), foreign.to_string());
  co_await scope.join();
  co_await rig.door.close();
}

/// The port accepts, in the kernel, but nobody ever answers the preface.
Task<void> connect_to_silence(TcpRig& rig) {
  FakeHolder silent(rig.context);
  const auto transport = rig.make_transport(1);
  const auto connected = co_await transport->connect(
      silent.endpoint(), rig.clock.now() + std::chrono::milliseconds(50));
  BOOST_TEST((!connected.ok() && connected.error().code() == Errc::kDeadline));

  // close() does not wait for a connect's deadline.
  const auto closed = rig.make_transport(1);
  TaskScope scope(rig.context.get_executor());
  Errc outcome = Errc::kUnset;
  const auto connecting = [](Transport& to_close, RailEndpoint endpoint, TimePoint deadline,
                             Errc& result) -> Task<void> {
    const auto connected_late = co_await to_close.connect(endpoint, deadline);
    if (!connected_late.ok()) result = connected_late.error().code();
  };
  scope.spawn(connecting(*closed, silent.endpoint(), rig.soon(), outcome));
  const auto waiting = co_await dial(rig.context, silent.endpoint());
  co_await closed->close();
  co_await scope.join();
  BOOST_TEST((outcome == Errc::kClosed));
  co_await transport->close();
  co_await rig.door.close();
}

Task<void> holder_dies_in_the_middle(TcpRig& rig) {
  FakeHolder holder(rig.context);
  const auto transport = rig.make_transport(1);
  TaskScope scope(rig.context.get_executor());
  scope.spawn(holder.accept());
  const auto connected = co_await transport->connect(holder.endpoint(), rig.soon());
  BOOST_TEST(connected.ok());
  co_await scope.join();
  std::vector<std::byte> memory(500'000);
  RecordingSink sink(rig.context.get_executor());
  transport->post(kRead, slices_over(memory, 100'000, 0), sink);
  const Request first = co_await holder.next_request();
  co_await holder.send_header(first.op, 0, 100'000);
  co_await holder.send(std::span(memory).first(50'000));
  co_await sink.landed(50'000);
  holder.hang_up();
  co_await sink.outcomes(5);
  BOOST_TEST(sink.count(Errc::kConnectionLost) == 5U, sink.first_detail());
  BOOST_TEST(!transport->usable());
  transport->post(kRead, slices_over(memory, 100'000, 5), sink);
  co_await sink.outcomes(10);
  BOOST_TEST(sink.count(Errc::kRailFailed) == 5U);
  BOOST_TEST(sink.breaches() == 0U);
  const auto fenced = co_await transport->fence(sink, rig.soon());
  BOOST_TEST(fenced.ok());
  co_await transport->close();
  co_await rig.door.close();
}

/// Nothing is posted when the channel goes, so the next slice is the first to hear of it.
Task<void> holder_dies_while_idle(TcpRig& rig) {
  FakeHolder holder(rig.context);
  const auto transport = rig.make_transport(1);
  TaskScope scope(rig.context.get_executor());
  scope.spawn(holder.accept());
  const auto connected = co_await transport->connect(holder.endpoint(), rig.soon());
  BOOST_TEST(connected.ok());
  co_await scope.join();
  const std::string local = holder.peer_name();
  holder.hang_up();
  while (transport->usable()) co_await asio::post(rig.context, asio::use_awaitable);
  std::vector<std::byte> memory(1000);
  RecordingSink sink(rig.context.get_executor());
  transport->post(kRead, slices_over(memory, 1000, 0), sink);
  co_await sink.outcomes(1);
  BOOST_TEST(sink.count(Errc::kRailFailed) == 1U);
  const std::string& why = sink.first_detail();
  BOOST_TEST(why.find("closed by the holder") != std::string::npos, why);
  BOOST_TEST(why.find(local) != std::string::npos, why);
  const std::string port = std::to_string(holder.endpoint().port);
  BOOST_TEST(why.find("127.0.0.1:" + port) != std::string::npos, why);
  co_await transport->close();
  co_await rig.door.close();
}

/// One of the channels breaks the protocol: its slices fail, those of another one go on.
Task<void> one_channel_breaks_the_protocol(TcpRig& rig) {
  FakeHolder holder(rig.context);
  const auto transport = rig.make_transport(2);
  Errc lost{};
  transport->when_lost([&lost](const Error& why) { lost = why.code(); });
  const auto accept_all = [](FakeHolder* bad, FakeHolder* good, FakeHolder* express,
                             FakeHolder* spare) -> Task<void> {
    co_await bad->accept();
    good->take_over(*bad);
    co_await bad->accept();
    spare->take_over(*bad);
    // The express channel is the last one that connects.
    co_await bad->accept();
    express->take_over(*bad);
    bad->take_over(*spare);
  };
  FakeHolder good(rig.context);
  FakeHolder express(rig.context);
  FakeHolder spare(rig.context);
  TaskScope scope(rig.context.get_executor());
  scope.spawn(accept_all(&holder, &good, &express, &spare));
  const auto connected = co_await transport->connect(holder.endpoint(), rig.soon());
  BOOST_TEST(connected.ok());
  co_await scope.join();
  std::vector<std::byte> memory(2000);
  RecordingSink sink(rig.context.get_executor());
  transport->post(kRead, slices_over(memory, 1000, 0), sink);
  const Request to_good = co_await good.next_request();
  const Request to_bad = co_await holder.next_request();
  co_await holder.send_header(to_bad.op, 1, 10);
  co_await sink.outcomes(1);
  BOOST_TEST(sink.count(Errc::kProtocol) == 1U, sink.first_detail());
  BOOST_TEST(!transport->usable());
  BOOST_TEST((lost == Errc::kProtocol));
  // Nor is it the path's fault for those that come later.
  RecordingSink late(rig.context.get_executor());
  transport->post(kRead, slices_over(memory, 1000, 2), late);
  co_await late.outcomes(2);
  BOOST_TEST(late.count(Errc::kProtocol) == 2U, late.first_detail());
  co_await good.send_header(to_good.op, 0, 1000);
  co_await good.send(std::span(memory).first(1000));
  co_await sink.outcomes(2);
  BOOST_TEST(sink.count(Errc::kUnset) == 1U);
  BOOST_TEST(sink.breaches() == 0U);
  co_await transport->close();
  co_await rig.door.close();
}

Task<void> close_with_slices_in_flight(TcpRig& rig, std::uint64_t wait_for) {
  const auto transport = rig.make_transport(3);
  const auto connected = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST(connected.ok());
  std::vector<std::byte> memory(4 * kMiB);
  RecordingSink sink(rig.context.get_executor());
  const auto slices = slices_over(memory, 200'000, 0);
  transport->post(kRead, slices, sink);
  co_await sink.landed(wait_for);
  co_await transport->close();
  BOOST_TEST(sink.outcome_count() == slices.size());
  BOOST_TEST(sink.count(Errc::kFlushed) > 0U);
  BOOST_TEST(sink.breaches() == 0U);
  const Canary next_owner(memory, 5);
  co_await rig.door.close();
  BOOST_TEST(next_owner.changed_bytes() == 0U);
  BOOST_TEST(rig.gate.pins() == 0U);
}

BOOST_AUTO_TEST_SUITE(tcp_fault)

BOOST_AUTO_TEST_CASE(a_failed_connect_says_why) {
  TcpRig rig(kMiB);
  run_task(rig.context, connect_to_the_wrong_place(rig));
}

BOOST_AUTO_TEST_CASE(another_version_and_an_echo_are_no_holder) {
  TcpRig rig(kMiB);
  run_task(rig.context, connect_to_others(rig));
}

BOOST_AUTO_TEST_CASE(a_connect_ends_at_its_deadline_or_at_close) {
  TcpRig rig(kMiB);
  run_task(rig.context, connect_to_silence(rig));
}

BOOST_AUTO_TEST_CASE(a_dying_holder_gives_every_slice_one_outcome) {
  TcpRig rig(kMiB);
  run_task(rig.context, holder_dies_in_the_middle(rig));
}

BOOST_AUTO_TEST_CASE(what_ended_an_idle_rail_is_told_to_the_next_slice) {
  TcpRig rig(kMiB);
  run_task(rig.context, holder_dies_while_idle(rig));
}

BOOST_AUTO_TEST_CASE(a_breach_of_protocol_ends_its_channel_only) {
  TcpRig rig(kMiB);
  run_task(rig.context, one_channel_breaks_the_protocol(rig));
}

BOOST_AUTO_TEST_CASE(close_flushes_what_is_in_flight) {
  for (const std::uint64_t wait_for : {std::uint64_t{0}, std::uint64_t{1}, 300 * kKiB}) {
    TcpRig rig(4 * kMiB);
    run_task(rig.context, close_with_slices_in_flight(rig, wait_for));
  }
}

BOOST_AUTO_TEST_CASE(no_descriptor_is_left_behind) {
  {
    TcpRig warm_up(kMiB);
    run_task(warm_up.context, connect_to_the_wrong_place(warm_up));
  }
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 3; ++round) {
    TcpRig rig(4 * kMiB);
    run_task(rig.context, close_with_slices_in_flight(rig, 1));
  }
  BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
