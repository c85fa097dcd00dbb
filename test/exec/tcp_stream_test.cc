#include "engine/exec/tcp_stream.h"

#include <asio/ip/tcp.hpp>
#include <functional>
#include <string>

#include "engine/exec/host_port.h"
#include "test/exec/stream_support.h"

namespace corail::test {
namespace {

using asio::ip::tcp;

Task<Result<Stream>> connect(Clock& clock, std::string address, Duration patience) {
  const auto here = co_await asio::this_coro::executor;
  auto stream = co_await connect_tcp(here, clock, std::move(address), clock.now() + patience);
  co_return stream;
}

/// Reads byte by byte, each of which is there; returns how many turns others had meanwhile.
Task<Result<int>> read_greedily(ByteStream& stream, std::size_t count, int& turns) {
  Bytes byte(1);
  for (std::size_t i = 0; i < count; ++i) {
    const auto read = co_await stream.read_some(byte);
    if (!read.ok()) co_return read.error();
  }
  co_return turns;
}

/// An address that nobody listens on: it was ours a moment ago.
std::string dead_address(asio::io_context& context) {
  auto listener = listen_tcp(context.get_executor(), "127.0.0.1:0");
  BOOST_REQUIRE(listener.ok());
  const std::string address = (*listener)->local_address();
  (*listener)->close();
  return address;
}

/// A listener whose queue is full: the kernel drops further attempts without a word.
class BlackHole {
 public:
  explicit BlackHole(asio::io_context& context)
      : acceptor_(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
    acceptor_.listen(0);
    for (int i = 0; i < 4; ++i) {
      fillers_.emplace_back(context);
      fillers_.back().async_connect(acceptor_.local_endpoint(), [](const std::error_code&) {});
    }
  }
  std::string address() const {
    return format_host_port("127.0.0.1", acceptor_.local_endpoint().port());
  }

 private:
  tcp::acceptor acceptor_;
  std::vector<tcp::socket> fillers_;
};

BOOST_AUTO_TEST_SUITE(host_port)

BOOST_AUTO_TEST_CASE(parses_what_it_formats) {
  SeededRandom random(1);
  for (const std::string host : {"10.0.0.2", "::1", "fe80::1%eth0", "node-7.example", "a"}) {
    const auto port = static_cast<std::uint16_t>(random.next());
    const auto parsed = parse_host_port(format_host_port(host, port));
    BOOST_REQUIRE(parsed.ok());
    BOOST_TEST(parsed->host == host);
    BOOST_TEST(parsed->port == port);
  }
}

BOOST_AUTO_TEST_CASE(refuses_everything_else) {
  for (const std::string text : {"",
                                 ":",
                                 "host",
                                 "host:",
                                 ":7700",
                                 "host:port",
                                 "host:65536",
                                 "host:-1",
                                 "host:+1",
                                 "host:1 ",
                                 "host: 1",
                                 "::1:7700",
                                 "[::1]",
                                 "[::1]7700",
                                 "[]:7700",
                                 "[::1:7700",
                                 "a b:1",
                                 "host:0x10",
                                 "host:99999999999999999999",
                                 "[a]:1:2",
                                 "a/b:1"}) {
    const auto parsed = parse_host_port(text);
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(code_of(parsed) == Errc::kInvalidArgument);
      BOOST_TEST(parsed.error().detail().find("'" + text + "'") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(survives_random_text) {
  SeededRandom random(2);
  const std::string letters = "[]:.0123456789abc%";
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(12); n > 0; --n) {
      text += letters[random.below(letters.size())];
    }
    const auto parsed = parse_host_port(text);
    if (!parsed.ok()) continue;
    const auto again = parse_host_port(format_host_port(parsed->host, parsed->port));
    BOOST_REQUIRE(again.ok());
    BOOST_REQUIRE_EQUAL(again->host, parsed->host);
    BOOST_REQUIRE_EQUAL(again->port, parsed->port);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(tcp_stream)

BOOST_AUTO_TEST_CASE(a_refused_connect_says_so_and_where) {
  asio::io_context context;
  SteadyClock clock;
  const std::string address = dead_address(context);
  const auto stream = run(context, connect(clock, address, kHang));
  BOOST_TEST(code_of(stream) == Errc::kConnectFailed);
  BOOST_TEST(stream.error().peer() == address);
  BOOST_TEST(stream.error().detail().find("Connection refused") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_connect_without_an_answer_ends_at_its_deadline) {
  asio::io_context context;
  ManualClock clock;
  BlackHole hole(context);
  settle(context);
  Started<Result<Stream>> connecting(context,
                                     connect(clock, hole.address(), std::chrono::seconds(10)));
  settle(context);
  TimePoint due;
  BOOST_REQUIRE(clock.next_due(due));
  BOOST_TEST((due == clock.now() + std::chrono::seconds(10)));
  clock.advance(std::chrono::milliseconds(9999));
  settle(context);
  BOOST_TEST(!connecting.done());
  clock.advance(std::chrono::milliseconds(1));
  settle(context);
  BOOST_TEST(code_of(connecting.value()) == Errc::kDeadline);
  BOOST_TEST(connecting.value().error().peer() == hole.address());
}

BOOST_AUTO_TEST_CASE(a_deadline_that_has_passed_is_one) {
  asio::io_context context;
  ManualClock clock;
  const auto stream = run(context, connect(clock, dead_address(context), Duration(0)));
  BOOST_TEST(code_of(stream) == Errc::kDeadline);
}

BOOST_AUTO_TEST_CASE(cancelling_a_connect_waits_for_its_own_end) {
  asio::io_context context;
  ManualClock clock;
  BlackHole hole(context);
  settle(context);
  Started<Result<Stream>> connecting(context,
                                     connect(clock, hole.address(), std::chrono::seconds(10)));
  settle(context);
  connecting.cancel();
  settle(context);
  BOOST_TEST(!connecting.done());
  clock.advance(std::chrono::seconds(10));
  settle(context);
  BOOST_TEST(code_of(connecting.value()) == Errc::kDeadline);
}

BOOST_AUTO_TEST_CASE(malformed_and_unknown_addresses) {
  asio::io_context context;
  SteadyClock clock;
  BOOST_TEST(code_of(run(context, connect(clock, "nonsense", kHang))) == Errc::kInvalidArgument);
  BOOST_TEST(code_of(run(context, connect(clock, "127.0.0.1:0", kHang))) == Errc::kInvalidArgument);
  // Longer than any name can be, so no name server is asked.
  const auto unknown = run(context, connect(clock, std::string(300, 'a') + ":1", kHang));
  BOOST_TEST(code_of(unknown) == Errc::kConnectFailed);
  for (const std::string text : {"nonsense", "localhost:1", "[::1]"}) {
    BOOST_TEST(code_of(listen_tcp(context.get_executor(), text)) == Errc::kInvalidArgument);
  }
}

BOOST_AUTO_TEST_CASE(a_name_is_resolved_and_its_addresses_are_tried) {
  asio::io_context context;
  SteadyClock clock;
  auto listener = listen_tcp(context.get_executor(), "127.0.0.1:0");
  BOOST_REQUIRE(listener.ok());
  const auto target = parse_host_port((*listener)->local_address());
  const auto stream =
      run(context, connect(clock, format_host_port("localhost", target->port), kHang));
  BOOST_REQUIRE(stream.ok());
  BOOST_TEST((*stream)->peer_name() == (*listener)->local_address());
}

BOOST_AUTO_TEST_CASE(an_address_in_use_is_refused_to_a_second_listener) {
  asio::io_context context;
  auto first = listen_tcp(context.get_executor(), "127.0.0.1:0");
  BOOST_REQUIRE(first.ok());
  const auto second = listen_tcp(context.get_executor(), (*first)->local_address());
  BOOST_TEST(code_of(second) == Errc::kConnectFailed);
}

BOOST_AUTO_TEST_CASE(closing_a_listener_ends_its_accept) {
  asio::io_context context;
  auto listener = listen_tcp(context.get_executor(), "127.0.0.1:0");
  BOOST_REQUIRE(listener.ok());
  Started<Result<Stream>> accepting(context, (*listener)->accept());
  settle(context);
  BOOST_TEST(!accepting.done());
  (*listener)->close();
  (*listener)->close();
  settle(context);
  BOOST_TEST(code_of(accepting.value()) == Errc::kClosed);
  BOOST_TEST(code_of(run(context, (*listener)->accept())) == Errc::kClosed);
}

BOOST_AUTO_TEST_CASE(a_reader_that_never_waits_lets_others_run) {
  asio::io_context context;
  TcpPair pair(context);
  const Bytes bytes = random_bytes(1000, 1);
  BOOST_REQUIRE(run(context, write(*pair.left, bytes)).ok());
  int turns = 0;
  bool over = false;
  std::function<void()> turn = [&] {
    ++turns;
    if (!over) asio::post(context, turn);
  };
  Started<Result<int>> reading(context, read_greedily(*pair.right, bytes.size(), turns));
  asio::post(context, turn);
  finish(context, reading);
  over = true;
  settle(context);
  BOOST_TEST(*reading.value() > 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
