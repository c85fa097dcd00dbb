#include <netinet/in.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <thread>

#include "apps/p2p_bench/content.h"
#include "apps/p2p_bench/limit_client.h"
#include "apps/p2p_bench/limit_server.h"
#include "apps/p2p_bench/process_usage.h"
#include "engine/base/random.h"

namespace corail::bench {
namespace {

using Bytes = std::vector<std::byte>;

/// A store of the test's own: one buffer per set, cut into spans of odd sizes.
class Sets {
 public:
  explicit Sets(const Shape& shape) {
    SeededRandom random(11);
    for (std::uint32_t set = 0; set < shape.sets; ++set) {
      Bytes& bytes = bytes_.emplace_back(shape.payload_bytes());
      fill_content(bytes, CellId{shape.seed, set, 0, 0});
      SourceMemory& memory = memory_.emplace_back();
      for (std::span<const std::byte> rest = bytes; !rest.empty();) {
        const std::size_t length = std::min<std::size_t>(1 + random.below(30'000), rest.size());
        memory.push_back(rest.first(length));
        rest = rest.subspan(length);
      }
    }
  }
  const Bytes& bytes(std::uint32_t set) const { return bytes_[set]; }
  const std::vector<SourceMemory>& memory() const { return memory_; }

 private:
  std::vector<Bytes> bytes_;
  std::vector<SourceMemory> memory_;
};

Shape small_shape() {
  Shape shape;
  shape.blocks = 13;
  shape.layers = 3;
  shape.ranks = 2;
  shape.segment_bytes = 4104;
  shape.sets = 2;
  return shape;
}

std::unique_ptr<LimitServer> serve(const Shape& shape, const Sets& sets,
                                   const std::vector<std::string>& hosts) {
  auto server = LimitServer::open("127.0.0.1", hosts, 0, shape, sets.memory());
  BOOST_REQUIRE(server.ok());
  return std::move(*server);
}

BOOST_AUTO_TEST_SUITE(limit)

BOOST_AUTO_TEST_CASE(every_number_of_connections_moves_the_same_bytes) {
  const Shape shape = small_shape();
  const Sets sets(shape);
  const auto server = serve(shape, sets, {"127.0.0.1", "127.0.0.2", "127.0.0.3"});
  const auto hello = ask_holder(server->address());
  BOOST_REQUIRE(hello.ok());
  BOOST_TEST((hello->shape == shape));
  BOOST_TEST(hello->endpoints.size() == 3U);
  SteadyClock clock;
  for (std::uint32_t rails = 1; rails <= 4; ++rails) {
    std::vector<std::string> local;
    for (std::uint32_t i = 0; i < rails; ++i) local.push_back("127.0.0." + std::to_string(i + 1));
    const auto client = LimitClient::open(*hello, local, 1 + rails % 3, clock);
    BOOST_REQUIRE(client.ok());
    for (std::uint32_t set = 0; set < shape.sets; ++set) {
      Bytes first(shape.payload_bytes() / 3);
      Bytes second(shape.payload_bytes() - first.size());
      const std::vector<std::span<std::byte>> destination = {first, second};
      const auto took = (*client)->fetch(set, 5000, destination);
      BOOST_REQUIRE(took.ok());
      BOOST_TEST((*took > Duration::zero()));
      first.insert(first.end(), second.begin(), second.end());
      BOOST_TEST((first == sets.bytes(set)));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_fetch_after_an_abort_fails_and_hangs_nothing) {
  const Shape shape = small_shape();
  const Sets sets(shape);
  const auto server = serve(shape, sets, {"127.0.0.1"});
  const auto hello = ask_holder(server->address());
  BOOST_REQUIRE(hello.ok());
  SteadyClock clock;
  const auto client = LimitClient::open(*hello, {"127.0.0.1"}, 2, clock);
  BOOST_REQUIRE(client.ok());
  (*client)->abort();
  Bytes bytes(shape.payload_bytes());
  const auto took = (*client)->fetch(0, 4096, {bytes});
  BOOST_REQUIRE(!took.ok());
  BOOST_TEST((took.error().code() == Errc::kConnectionLost));
}

BOOST_AUTO_TEST_CASE(a_command_outside_of_the_sets_closes_the_connection) {
  const Shape shape = small_shape();
  const Sets sets(shape);
  const auto server = serve(shape, sets, {"127.0.0.1"});
  const std::uint64_t all = shape.payload_bytes();
  const std::vector<LimitCommand> commands = {
      {0, all + 1, 0, 4096}, {all, 1, 0, 4096}, {~0ULL, 2, 0, 4096},
      {0, all, 2, 4096},     {0, all, 0, 0},    {0, all, 0, 0xFFFFFFFF},
  };
  for (const LimitCommand& command : commands) {
    const auto socket = connect_raw("127.0.0.1", server->address(), std::chrono::seconds(5));
    BOOST_REQUIRE(socket.ok());
    BOOST_REQUIRE(greet(*socket, server->address()).ok());
    BOOST_REQUIRE(send_all(*socket, encode_command(command), kCommandBytes));
    Bytes one(1);
    BOOST_TEST(!receive_all(*socket, one, 1));
  }
}

BOOST_AUTO_TEST_CASE(a_foreign_greeting_is_not_answered) {
  const Shape shape = small_shape();
  const Sets sets(shape);
  const auto server = serve(shape, sets, {"127.0.0.1"});
  const auto socket = connect_raw("", server->address(), std::chrono::seconds(5));
  BOOST_REQUIRE(socket.ok());
  const Bytes http(kGreetingBytes, std::byte{'G'});
  BOOST_REQUIRE(send_all(*socket, http, http.size()));
  Bytes one(1);
  BOOST_TEST(!receive_all(*socket, one, 1));
}

/// Lets this process open no more descriptors, for the length of a scope.
class NoMoreDescriptors {
 public:
  NoMoreDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int lowest_free = ::dup(STDIN_FILENO);
    ::close(lowest_free);
    const rlimit none = {static_cast<rlim_t>(lowest_free), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreDescriptors(const NoMoreDescriptors&) = delete;
  NoMoreDescriptors& operator=(const NoMoreDescriptors&) = delete;

 private:
  rlimit before_ = {};
};

/// Lets no thread start, for the length of a scope: no address space has room for such a stack.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    ::pthread_attr_init(&huge);
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 62);
    ::pthread_setattr_default_np(&huge);
    ::pthread_attr_destroy(&huge);
  }
  ~NoMoreThreads() {
    ::pthread_setattr_default_np(&before_);
    ::pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_ = {};
};

BOOST_AUTO_TEST_CASE(a_holder_without_descriptors_waits_for_some_and_burns_no_core) {
  const Shape shape = small_shape();
  const Sets sets(shape);
  const auto server = serve(shape, sets, {"127.0.0.1"});
  // Made before the limit, so that only the holder's end of it cannot be made.
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<std::uint16_t>(split_address(server->address()).port));
  {
    const NoMoreDescriptors none;
    BOOST_REQUIRE(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0);
    const double before = process_cpu_seconds();
    // Nothing can be awaited here: what is tested is that nothing happens.
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    BOOST_TEST(process_cpu_seconds() - before < 0.2);
  }
  set_stall_limit(socket, std::chrono::seconds(30));
  BOOST_TEST(greet(socket, server->address()).ok());
}

BOOST_AUTO_TEST_CASE(a_holder_without_threads_drops_the_connection) {
  const Shape shape = small_shape();
  const Sets sets(shape);
  const auto server = serve(shape, sets, {"127.0.0.1"});
  {
    const NoMoreThreads none;
    BOOST_TEST(!ask_holder(server->address()).ok());
  }
  BOOST_TEST(ask_holder(server->address()).ok());
}

BOOST_AUTO_TEST_CASE(a_foreign_endpoint_is_no_holder) {
  const auto listener = listen_raw("127.0.0.1:0");
  BOOST_REQUIRE(listener.ok());
  const std::string address = local_address_of(*listener);
  std::thread foreign([&] {
    const Descriptor socket(::accept(listener->get(), nullptr, nullptr));
    const std::string answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
    send_all(socket, std::as_bytes(std::span(answer)), answer.size());
  });
  const auto hello = ask_holder(address);
  foreign.join();
  BOOST_REQUIRE(!hello.ok());
  BOOST_TEST((hello.error().code() == Errc::kIncompatible));
}

BOOST_AUTO_TEST_CASE(nobody_there_is_an_error_with_the_address) {
  const auto hello = ask_holder("127.0.0.1:1");
  BOOST_REQUIRE(!hello.ok());
  BOOST_TEST(hello.error().detail().find("127.0.0.1:1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(hello_and_command_survive_the_wire) {
  HolderHello hello;
  hello.shape = small_shape();
  hello.shape.placement = Placement::kFragmented;
  hello.endpoints = {"10.0.0.1:1", "[::1]:2"};
  const auto back = decode_hello(encode_hello(hello));
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST((back->shape == hello.shape));
  BOOST_TEST(back->endpoints == hello.endpoints);
  const LimitCommand command = {1ULL << 40, 12345, 7, 4096};
  const LimitCommand read = decode_command(encode_command(command));
  BOOST_TEST(read.offset == command.offset);
  BOOST_TEST(read.length == command.length);
  BOOST_TEST(read.set == command.set);
  BOOST_TEST(read.call_bytes == command.call_bytes);
}

BOOST_AUTO_TEST_CASE(damaged_hellos_are_refused) {
  const std::string good = encode_hello({small_shape(), {"a:1"}});
  BOOST_TEST(decode_hello(good).has_value());
  for (std::size_t length = 0; length < good.size(); ++length) {
    BOOST_TEST(!decode_hello(good.substr(0, length)).has_value());
  }
  for (const char* bad : {"[]", "{}", "null", R"({"shape":{},"endpoints":["a:1"]})",
                          R"({"shape":1,"endpoints":2})"}) {
    BOOST_TEST(!decode_hello(bad).has_value(), bad);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
