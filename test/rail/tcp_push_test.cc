#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/exec/task_scope.h"
#include "test/rail/push_rig.h"
#include "test/support/fake_holder.h"
#include "test/support/pattern.h"

namespace corail::test {
namespace {

/// Pushed slices and READs, in random order, share the channels.
Task<void> push_and_read(TcpRig& rig, std::uint32_t channels) {
  SeededRandom random(channels);
  PushRig push(rig);
  co_await push.connect(rig.endpoint, channels);
  BOOST_TEST(push.transport->capabilities().pushes);
  std::vector<std::byte> target(rig.gate.size());
  std::vector<Slice> slices = slices_over(target, 50'000, 0);
  std::size_t pushed = 0;
  for (Slice& slice : slices) {
    slice.pushed = random.below(3) > 0;
    pushed += slice.pushed ? 1 : 0;
  }
  std::size_t posted = 0;
  const auto refill = [&] {
    while (posted < slices.size() && posted - push.sink.outcome_count() < rig.options.max_slices) {
      push.transport->post(kRead, std::span(slices).subspan(posted++, 1), push.sink);
    }
  };
  push.sink.during_outcome = [&](const Slice&, Errc) { refill(); };
  refill();
  push.serve();
  co_await push.sink.outcomes(slices.size());
  BOOST_TEST(push.sink.count(Errc::kUnset) == slices.size());
  BOOST_TEST(push.sink.receipts() == pushed);
  BOOST_TEST(!first_difference(target, MemoryGate::kSeed, 0));
  co_await push.close();
}

/// Numbers grow, and each channel has a name of its own.
Task<void> look_at_orders(TcpRig& rig) {
  PushRig push(rig);
  co_await push.connect(rig.endpoint, 2);
  std::vector<std::byte> target(40 * 1000);
  const auto slices = pushed_slices_over(target, 1000);
  push.transport->post(kRead, slices, push.sink);
  std::map<std::uint64_t, std::uint64_t> last;
  std::uint64_t ordered = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    CarriedOrder carried = co_await push.courier->next();
    const PushOrder& order = carried.order;
    BOOST_TEST(order.number > last[order.channel]);
    last[order.channel] = order.number;
    BOOST_TEST((order.context == kRead));
    ordered += order.length;
    push.scope.spawn(serve_order(push.owner(), carried, [] { return false; }));
  }
  BOOST_TEST(last.size() == 2U);
  BOOST_TEST(ordered == target.size());
  co_await push.sink.outcomes(slices.size());
  BOOST_TEST(!first_difference(target, MemoryGate::kSeed, 0));
  co_await push.close();
}

/// The answer alone ends nothing, nor do the bytes alone.
Task<void> answer_before_and_after_the_bytes(TcpRig& rig) {
  PushRig push(rig);
  FakeHolder holder(rig.context);
  co_await push.connect_to(holder);
  std::vector<std::byte> target(2000);
  std::vector<std::byte> payload(2000);
  fill_pattern(payload, 1, 0);
  push.transport->post(kRead, pushed_slices_over(target, 1000), push.sink);
  const CarriedOrder first = co_await push.courier->next();
  const CarriedOrder second = co_await push.courier->next();
  first.answered(receipt_of(first.order));
  BOOST_TEST(push.sink.outcome_count() == 0U);
  co_await holder.send_header(OpKey::unpack(second.order.number), 0, 1000);
  co_await holder.send(std::span(payload).subspan(1000));
  co_await push.sink.landed(1000);
  BOOST_TEST(push.sink.outcome_count() == 0U);
  second.answered(receipt_of(second.order));
  BOOST_TEST(push.sink.outcome_count() == 1U);
  co_await holder.send_header(OpKey::unpack(first.order.number), 0, 400);
  co_await holder.send(std::span(payload).first(400));
  co_await push.sink.landed(1400);
  BOOST_TEST(push.sink.outcome_count() == 1U);
  co_await holder.send_header(OpKey::unpack(first.order.number), 400, 600);
  co_await holder.send(std::span(payload).subspan(400, 600));
  co_await push.sink.outcomes(2);
  BOOST_TEST(push.sink.count(Errc::kUnset) == 2U);
  BOOST_TEST(!first_difference(target, 1, 0));
  holder.hang_up();
  co_await push.close();
}

/// A peer without a courier takes no orders; READs over the same rail go on.
Task<void> push_without_a_courier(TcpRig& rig) {
  const auto transport = rig.make_transport(1);
  const auto connected = co_await transport->connect(rig.endpoint, rig.soon());
  BOOST_TEST(connected.ok());
  std::vector<std::byte> target(2000);
  auto slices = slices_over(target, 1000, 0);
  slices[1].pushed = true;
  RecordingSink sink(rig.context.get_executor());
  transport->post(kRead, slices, sink);
  BOOST_TEST(sink.outcome_count() == 0U);
  co_await sink.outcomes(2);
  BOOST_TEST(sink.count(Errc::kUnset) == 1U);
  BOOST_TEST(sink.count(Errc::kRefused) == 1U);
  BOOST_TEST(transport->usable());
  co_await transport->close();
  co_await rig.door.close();
}

BOOST_AUTO_TEST_SUITE(tcp_push)

BOOST_AUTO_TEST_CASE(pushed_slices_and_reads_over_one_to_three_channels_are_byte_exact) {
  for (std::uint32_t channels = 1; channels <= 3; ++channels) {
    TcpOptions options = TcpRig::loopback_options();
    options.max_slices = 20;
    options.frame_bytes = channels == 3 ? 7'777 : kMaxPayloadBytes;
    options.receive_bytes = channels == 2 ? 33'333 : 512 * kKiB;
    TcpRig rig(5 * kMiB, options);
    run_task(rig.context, push_and_read(rig, channels));
  }
}

BOOST_AUTO_TEST_CASE(orders_of_a_channel_have_growing_numbers) {
  TcpRig rig(kMiB);
  run_task(rig.context, look_at_orders(rig));
}

BOOST_AUTO_TEST_CASE(a_slice_ends_with_its_bytes_and_the_answer) {
  TcpRig rig(kMiB);
  run_task(rig.context, answer_before_and_after_the_bytes(rig));
}

BOOST_AUTO_TEST_CASE(who_has_no_courier_is_refused) {
  TcpRig rig(kMiB);
  run_task(rig.context, push_without_a_courier(rig));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
