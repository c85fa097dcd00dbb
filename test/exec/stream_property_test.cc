// What every ByteStream must do, tried on all of them.

#include <functional>

#include "engine/exec/memory_stream.h"
#include "engine/exec/task_scope.h"
#include "test/exec/stream_support.h"

namespace corail::test {
namespace {

/// Two connected streams on the context. Those in memory use tiny buffers and short reads.
std::pair<Stream, Stream> make_pair_of(const std::string& kind, asio::io_context& context) {
  if (kind == "tcp") {
    TcpPair pair(context);
    return {std::move(pair.left), std::move(pair.right)};
  }
  MemoryStreamOptions options;
  options.buffer_bytes = 1000;
  options.max_read_bytes = 77;
  MemoryStreamPair pair = make_stream_pair(context.get_executor(), options);
  return {std::move(pair.left), std::move(pair.right)};
}

const std::vector<std::string> kKinds = {"tcp", "memory"};

/// Cuts the bytes into writes of several random pieces, empty ones too.
Task<Result<void>> write_in_pieces(ByteStream& stream, const Bytes& bytes, std::uint64_t seed) {
  SeededRandom random(seed);
  std::size_t at = 0;
  while (at < bytes.size()) {
    std::vector<std::span<const std::byte>> buffers;
    for (std::uint64_t n = random.below(100); n > 0; --n) {
      const std::size_t size = std::min<std::size_t>(random.below(3000), bytes.size() - at);
      buffers.emplace_back(bytes.data() + at, size);
      at += size;
    }
    const auto written = co_await stream.write_all(std::move(buffers));
    if (!written.ok()) co_return written;
  }
  co_return ok_result();
}

Task<Result<void>> read_in_pieces(ByteStream& stream, Bytes& bytes, std::uint64_t seed) {
  SeededRandom random(seed);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t size = std::min<std::size_t>(1 + random.below(9000), bytes.size() - at);
    const auto piece = std::span(bytes).subspan(at, size);
    if (random.below(2) == 0) {
      const auto read = co_await read_exact(stream, piece);
      if (!read.ok()) co_return read;
      at += size;
    } else {
      const auto read = co_await stream.read_some(piece);
      if (!read.ok()) co_return read.error();
      at += *read;
    }
  }
  co_return ok_result();
}

BOOST_AUTO_TEST_SUITE(byte_stream)

BOOST_AUTO_TEST_CASE(carries_bytes_in_order_in_both_directions_at_once) {
  for (const auto& kind : kKinds) {
    BOOST_TEST_CONTEXT(kind) {
      asio::io_context context;
      auto [left, right] = make_pair_of(kind, context);
      // Much more than the sockets buffer.
      const Bytes to_right = random_bytes(kind == "tcp" ? 9000000 : 300000, 1);
      const Bytes to_left = random_bytes(200000, 2);
      Bytes at_right(to_right.size());
      Bytes at_left(to_left.size());
      Started<Result<void>> a(context, write_in_pieces(*left, to_right, 3));
      Started<Result<void>> b(context, write_in_pieces(*right, to_left, 4));
      Started<Result<void>> c(context, read_in_pieces(*left, at_left, 5));
      Started<Result<void>> d(context, read_in_pieces(*right, at_right, 6));
      finish(context, a, b, c, d);
      BOOST_TEST(a.value().ok());
      BOOST_TEST(b.value().ok());
      BOOST_TEST(c.value().ok());
      BOOST_TEST(d.value().ok());
      BOOST_TEST((at_left == to_left));
      BOOST_TEST((at_right == to_right));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_end_comes_after_the_bytes_and_stays) {
  for (const auto& kind : kKinds) {
    BOOST_TEST_CONTEXT(kind) {
      asio::io_context context;
      auto [left, right] = make_pair_of(kind, context);
      const Bytes bytes = random_bytes(100, 1);
      BOOST_REQUIRE(run(context, write(*left, bytes)).ok());
      left->close();
      Bytes got(60);
      BOOST_TEST(run(context, fill(*right, got)).ok());
      Bytes more(60);
      const auto short_read = run(context, fill(*right, more));
      BOOST_TEST(code_of(short_read) == Errc::kConnectionLost);
      BOOST_TEST(short_read.error().detail().find("40 of 60") != std::string::npos);
      for (int i = 0; i < 3; ++i) BOOST_TEST(*run(context, read_into(*right, more)) == 0U);
    }
  }
}

BOOST_AUTO_TEST_CASE(writing_to_a_peer_that_has_gone_fails) {
  for (const auto& kind : kKinds) {
    BOOST_TEST_CONTEXT(kind) {
      asio::io_context context;
      auto [left, right] = make_pair_of(kind, context);
      left->close();
      const Bytes bytes = random_bytes(100, 1);
      // A socket learns of it only from the answer to the first bytes.
      Result<void> written = ok_result();
      for (int i = 0; i < 100000 && written.ok(); ++i) written = run(context, write(*right, bytes));
      BOOST_TEST(code_of(written) == Errc::kConnectionLost);
      BOOST_TEST(written.error().peer() == right->peer_name());
    }
  }
}

BOOST_AUTO_TEST_CASE(close_ends_pending_and_later_operations) {
  for (const auto& kind : kKinds) {
    BOOST_TEST_CONTEXT(kind) {
      asio::io_context context;
      auto [left, right] = make_pair_of(kind, context);
      Bytes buffer(10);
      const Bytes much = random_bytes(30000000, 1);
      Started<Result<std::size_t>> reading(context, read_into(*left, buffer));
      Started<Result<void>> writing(context, write(*left, much));
      settle(context);
      BOOST_REQUIRE(!reading.done());
      BOOST_REQUIRE(!writing.done());
      left->close();
      left->close();
      finish(context, reading, writing);
      BOOST_TEST(code_of(reading.value()) == Errc::kClosed);
      BOOST_TEST(code_of(writing.value()) == Errc::kClosed);
      BOOST_TEST(code_of(run(context, read_into(*left, buffer))) == Errc::kClosed);
      BOOST_TEST(code_of(run(context, write(*left, buffer))) == Errc::kClosed);
    }
  }
}

BOOST_AUTO_TEST_CASE(cancellation_does_not_end_operations) {
  for (const auto& kind : kKinds) {
    BOOST_TEST_CONTEXT(kind) {
      asio::io_context context;
      auto [left, right] = make_pair_of(kind, context);
      Bytes buffer(10);
      Started<Result<std::size_t>> reading(context, read_into(*left, buffer));
      settle(context);
      reading.cancel();
      settle(context);
      BOOST_TEST(!reading.done());
      BOOST_REQUIRE(run(context, write(*right, random_bytes(5, 1))).ok());
      finish(context, reading);
      BOOST_TEST(*reading.value() == 5U);
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_is_read_into_an_empty_buffer) {
  for (const auto& kind : kKinds) {
    asio::io_context context;
    auto [left, right] = make_pair_of(kind, context);
    Bytes none;
    BOOST_TEST(*run(context, read_into(*left, none)) == 0U);
    BOOST_TEST(run(context, write(*left, none)).ok());
  }
}

BOOST_AUTO_TEST_CASE(a_context_may_end_while_operations_are_pending) {
  for (const auto& kind : kKinds) {
    Bytes buffer(10);
    const Bytes much = random_bytes(30000000, 1);
    auto context = std::make_unique<asio::io_context>();
    auto [left, right] = make_pair_of(kind, *context);
    Started<Result<std::size_t>> reading(*context, read_into(*left, buffer));
    Started<Result<void>> writing(*context, write(*left, much));
    settle(*context);
    left.reset();
    right.reset();
    context.reset();
    BOOST_TEST(!writing.done());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
