#include "engine/rail/tcp/serve_queue.h"

#include <algorithm>
#include <array>
#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/units.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kFrame = 64 * kKiB;

Request read_of(std::uint64_t read, std::uint64_t length) {
  Request request;
  request.read = ReadId(read);
  request.length = length;
  return request;
}

Request cancel_of(std::uint64_t read, std::uint64_t epoch) {
  Request request;
  request.kind = RequestKind::kCancel;
  request.read = ReadId(read);
  request.epoch = EpochNumber(epoch);
  return request;
}

/// Sends the next frame, as a channel does; what it carried, and for whom.
struct Frame {
  std::uint64_t read = 0;
  std::uint64_t bytes = 0;
  bool last = false;
};
Frame serve(ServeQueue& queue) {
  ServeQueue::Op& op = *queue.current();
  Frame frame;
  frame.read = op.request.read.value();
  frame.bytes = std::min(op.request.length - op.sent, kFrame);
  op.sent += frame.bytes;
  frame.last = op.sent == op.request.length;
  if (frame.last) {
    queue.end(frame.bytes);
  } else {
    queue.spend(frame.bytes);
  }
  return frame;
}

BOOST_AUTO_TEST_SUITE(serve_queue)

BOOST_AUTO_TEST_CASE(reads_that_always_wait_get_equal_bytes) {
  SeededRandom random(1);
  ServeQueue queue(kFrame);
  constexpr std::size_t kReads = 3;
  // Whole frames, one and a bit, and crumbs: whoever counts requests or frames is found out.
  constexpr std::array<std::uint64_t, kReads> kLongest = {kMiB, kFrame + 1000, 4 * kKiB};
  std::array<std::uint64_t, kReads> served{};
  std::array<std::uint64_t, kReads> waiting{};
  for (int i = 0; i < 20'000; ++i) {
    for (std::size_t read = 0; read < kReads; ++read) {
      for (; waiting[read] < 3; ++waiting[read]) {
        queue.push(read_of(read, 1 + random.below(kLongest[read])));
      }
    }
    const Frame frame = serve(queue);
    served[frame.read] += frame.bytes + kReplyBytes;
    if (frame.last) --waiting[frame.read];
    const auto [least, most] = std::minmax_element(served.begin(), served.end());
    BOOST_TEST_REQUIRE(*most - *least <= 2 * (kFrame + kReplyBytes));
  }
}

BOOST_AUTO_TEST_CASE(a_small_read_waits_for_one_turn_of_each_other_read) {
  constexpr std::uint64_t kOthers = 5;
  ServeQueue queue(kFrame);
  for (std::uint64_t read = 0; read < kOthers; ++read) {
    for (int i = 0; i < 4; ++i) queue.push(read_of(read, kMaxReadBytes));
  }
  for (int i = 0; i < 17; ++i) serve(queue);
  queue.push(read_of(kOthers, 3000));
  std::uint64_t before = 0;
  for (Frame frame = serve(queue); frame.read != kOthers; frame = serve(queue)) {
    before += frame.bytes;
    BOOST_TEST_REQUIRE(before <= kOthers * 2 * kFrame);
  }
}

BOOST_AUTO_TEST_CASE(nobody_starves_under_random_arrivals) {
  SeededRandom random(2);
  ServeQueue queue(kFrame);
  std::uint64_t next_read = 1;
  std::uint64_t since_big = 0;
  std::uint64_t most_waiting = 0;
  queue.push(read_of(0, kMaxReadBytes));
  for (int i = 0; i < 20'000; ++i) {
    while (queue.size() < 2 || (queue.size() < 20 && random.below(3) == 0)) {
      queue.push(read_of(next_read++, 1 + random.below(2 * kFrame)));
    }
    most_waiting = std::max<std::uint64_t>(most_waiting, queue.size());
    const Frame frame = serve(queue);
    since_big = frame.read == 0 ? 0 : since_big + frame.bytes;
    BOOST_TEST_REQUIRE(since_big <= most_waiting * 2 * kFrame);
    if (frame.read == 0 && frame.last) queue.push(read_of(0, kMaxReadBytes));
  }
}

BOOST_AUTO_TEST_CASE(alone_a_read_has_every_turn_and_its_requests_keep_their_order) {
  ServeQueue queue(kFrame);
  for (std::uint64_t i = 0; i < 40; ++i) {
    Request request = read_of(9, 1 + 10'000 * i);
    request.offset = i;
    queue.push(request);
  }
  for (std::uint64_t i = 0; i < 40; ++i) {
    BOOST_TEST_REQUIRE(queue.current() != nullptr);
    BOOST_TEST(queue.current()->request.offset == i);
    while (!serve(queue).last) BOOST_TEST(queue.current()->request.offset == i);
  }
  BOOST_TEST(queue.current() == nullptr);
  BOOST_TEST(queue.size() == 0U);
}

BOOST_AUTO_TEST_CASE(reads_under_one_lease_take_turns_and_are_cancelled_by_epoch) {
  ServeQueue queue(kFrame);
  for (const std::uint64_t epoch : {1U, 3U}) {
    Request request = read_of(1, 8 * kMiB);
    request.epoch = EpochNumber(epoch);
    queue.push(request);
  }
  const EpochNumber first = queue.current()->request.epoch;
  serve(queue);
  BOOST_TEST((queue.current()->request.epoch != first));
  queue.cancel(cancel_of(1, 3));
  while (const ServeQueue::Op* const op = queue.current()) {
    BOOST_TEST(op->cancelled == (op->request.epoch == EpochNumber(3)));
    queue.end(0);
  }
}

BOOST_AUTO_TEST_CASE(orders_take_turns_with_reads_and_are_pinned_until_they_end) {
  asio::io_context context;
  const auto keeper = std::make_shared<int>(0);
  const std::vector<std::byte> bytes(4 * kFrame);
  ServeQueue queue(kFrame);
  queue.push(read_of(1, bytes.size()));
  queue.push(read_of(2, bytes.size()), PinnedBytes(bytes, Pin(keeper)),
             std::make_shared<ServedOrder>(context.get_executor(), [] { return false; }));
  std::array<std::uint64_t, 3> served{};
  while (ServeQueue::Op* const op = queue.current()) {
    const bool is_order = op->request.read == ReadId(2);
    BOOST_TEST((op->order != nullptr) == is_order);
    BOOST_TEST(op->admitted == is_order);
    BOOST_TEST(op->bytes.bytes.size() == (is_order ? bytes.size() : 0U));
    const Frame frame = serve(queue);
    served.at(frame.read) += frame.bytes;
    BOOST_TEST_REQUIRE(served[1] <= served[2] + 2 * kFrame);
    BOOST_TEST_REQUIRE(served[2] <= served[1] + 2 * kFrame);
    BOOST_TEST(keeper.use_count() == (served[2] < bytes.size() ? 2 : 1));
  }
  BOOST_TEST(served[2] == bytes.size());
}

BOOST_AUTO_TEST_CASE(it_tells_small_slices_from_large_ones) {
  ServeQueue queue(kFrame);
  BOOST_TEST((!queue.any_small() && !queue.any_large()));
  queue.push(read_of(1, 1000));
  BOOST_TEST((queue.any_small() && !queue.any_large()));
  queue.push(read_of(2, kMaxReadBytes));
  BOOST_TEST((queue.any_small() && queue.any_large()));
  queue.end(1000);
  BOOST_TEST((!queue.any_small() && queue.any_large()));
}

BOOST_AUTO_TEST_CASE(a_cancel_marks_all_of_one_read_and_nothing_else) {
  ServeQueue queue(kFrame);
  for (int i = 0; i < 5; ++i) {
    queue.push(read_of(1, kMiB));
    queue.push(read_of(2, kMiB));
  }
  serve(queue);
  queue.cancel(cancel_of(1, 0));
  queue.push(read_of(1, kMiB));
  std::array<int, 3> marked{};
  while (const ServeQueue::Op* const op = queue.current()) {
    marked.at(op->request.read.value()) += op->cancelled ? 1 : 0;
    queue.end(0);
  }
  BOOST_TEST(marked[1] == 5);
  BOOST_TEST(marked[2] == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
