#include "engine/exec/memory_stream.h"

#include <string>

#include "test/exec/stream_support.h"

namespace corail::test {
namespace {

constexpr Duration kLatency = std::chrono::milliseconds(10);

struct Delayed {
  Delayed() {
    MemoryStreamOptions options;
    options.latency = kLatency;
    options.clock = &clock;
    pair = make_stream_pair(context.get_executor(), options);
  }
  ManualClock clock;
  asio::io_context context;
  MemoryStreamPair pair;
};

BOOST_AUTO_TEST_SUITE(memory_stream)

BOOST_AUTO_TEST_CASE(bytes_arrive_after_the_latency_and_not_before) {
  Delayed link;
  const Bytes sent = random_bytes(10, 1);
  Bytes got(10);
  Started<Result<std::size_t>> reading(link.context, read_into(*link.pair.right, got));
  BOOST_REQUIRE(run(link.context, write(*link.pair.left, sent)).ok());
  link.clock.advance(kLatency - Duration(1));
  settle(link.context);
  BOOST_TEST(!reading.done());
  link.clock.advance(Duration(1));
  settle(link.context);
  BOOST_TEST(*reading.value() == 10U);
  BOOST_TEST((got == sent));
}

BOOST_AUTO_TEST_CASE(every_write_has_its_own_arrival) {
  Delayed link;
  const Bytes sent = random_bytes(4, 1);
  for (int i = 0; i < 5; ++i) {
    BOOST_REQUIRE(run(link.context, write(*link.pair.left, sent)).ok());
    link.clock.advance(kLatency / 10);
  }
  for (int i = 0; i < 5; ++i) {
    Bytes got(100);
    Started<Result<std::size_t>> reading(link.context, read_into(*link.pair.right, got));
    TimePoint due;
    settle(link.context);
    BOOST_REQUIRE(!reading.done());
    BOOST_REQUIRE(link.clock.next_due(due));
    link.clock.advance_to(due);
    settle(link.context);
    BOOST_TEST(*reading.value() == 4U);
  }
}

BOOST_AUTO_TEST_CASE(the_end_has_the_latency_too) {
  Delayed link;
  Bytes got(1);
  Started<Result<std::size_t>> reading(link.context, read_into(*link.pair.right, got));
  settle(link.context);
  link.pair.left->close();
  settle(link.context);
  BOOST_TEST(!reading.done());
  link.clock.advance(kLatency);
  settle(link.context);
  BOOST_TEST(*reading.value() == 0U);
}

BOOST_AUTO_TEST_CASE(a_cut_link_loses_what_is_on_its_way_and_tells_both_ends) {
  Delayed link;
  Bytes left_buffer(10);
  Bytes right_buffer(10);
  const Bytes much = random_bytes(1000000, 1);
  Started<Result<void>> writing(link.context, write(*link.pair.left, much));
  Started<Result<std::size_t>> left(link.context, read_into(*link.pair.left, left_buffer));
  Started<Result<std::size_t>> right(link.context, read_into(*link.pair.right, right_buffer));
  settle(link.context);
  link.pair.cut();
  settle(link.context);
  BOOST_TEST(code_of(writing.value()) == Errc::kConnectionLost);
  BOOST_TEST(code_of(left.value()) == Errc::kConnectionLost);
  BOOST_TEST(code_of(right.value()) == Errc::kConnectionLost);
  link.clock.advance(kLatency);
  BOOST_TEST(code_of(run(link.context, read_into(*link.pair.right, right_buffer))) ==
             Errc::kConnectionLost);
  link.pair.left.reset();
  link.pair.right.reset();
  link.pair.cut();
}

BOOST_AUTO_TEST_CASE(a_full_buffer_makes_the_writer_wait) {
  asio::io_context context;
  MemoryStreamOptions options;
  options.buffer_bytes = 100;
  MemoryStreamPair pair = make_stream_pair(context.get_executor(), options);
  const Bytes sent = random_bytes(101, 1);
  Started<Result<void>> writing(context, write(*pair.left, sent));
  settle(context);
  BOOST_TEST(!writing.done());
  Bytes got(1);
  BOOST_TEST(*run(context, read_into(*pair.right, got)) == 1U);
  BOOST_TEST(writing.value().ok());
}

BOOST_AUTO_TEST_CASE(names_tell_the_ends_apart) {
  asio::io_context context;
  MemoryStreamOptions options;
  options.left_name = "a";
  options.right_name = "b";
  const MemoryStreamPair pair = make_stream_pair(context.get_executor(), options);
  BOOST_TEST(pair.left->peer_name() == "b");
  BOOST_TEST(pair.right->peer_name() == "a");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
