#include <array>
#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/node/support.h"
#include "test/node/two_nodes.h"
#include "test/support/resource_census.h"

namespace corail::test {
namespace {

namespace data = boost::unit_test::data;

/// Something that is no node: accepts one connection, reads what comes first, says its words, and
/// keeps the connection until the other side ends it, or ends it at once.
class ForeignServer {
 public:
  ForeignServer(std::string words, bool stays)
      : acceptor_(context_, {asio::ip::address_v4::loopback(), 0}),
        thread_([this, words = std::move(words), stays] {
          std::error_code ignored;
          asio::ip::tcp::socket socket = acceptor_.accept(ignored);
          std::array<char, 64> heard{};
          socket.read_some(asio::buffer(heard), ignored);
          asio::write(socket, asio::buffer(words), ignored);
          while (stays && !ignored) socket.read_some(asio::buffer(heard), ignored);
        }) {}
  ~ForeignServer() { thread_.join(); }

  std::string address() const {
    return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port());
  }

 private:
  asio::io_context context_;
  asio::ip::tcp::acceptor acceptor_;
  std::thread thread_;
};

struct RailCounts {
  std::uint32_t holder;
  std::uint32_t requester;
};
std::ostream& operator<<(std::ostream& out, const RailCounts& counts) {
  return out << counts.holder << " and " << counts.requester << " rails";
}

const std::vector<RailCounts> kRailCounts = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {8, 8},
                                             {4, 1}, {1, 4}, {3, 2}, {2, 5}};

}  // namespace

BOOST_AUTO_TEST_SUITE(node)

BOOST_DATA_TEST_CASE(reads_are_byte_exact_over_any_number_of_rails, data::make(kRailCounts),
                     counts) {
  for (const BlockOrder order : {BlockOrder::kBlockMajor, BlockOrder::kLaneMajor}) {
    TwoNodes::Shape shape;
    shape.order = order;
    TwoNodes nodes(shape, counts.holder, counts.requester);
    nodes.save();
    auto peer = nodes.connect();
    BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
    BOOST_TEST((*peer)->rail_names().size() == std::max(counts.holder, counts.requester));
    for (int round = 0; round < 3; ++round) {
      auto view = nodes.fetch(**peer, nodes.keys());
      BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
      BOOST_TEST(view->blocks() == shape.blocks);
      BOOST_TEST(nodes.mismatches(*view) == 0u);
      const ReadReport& report = view->report();
      BOOST_TEST(report.needed_bytes == shape.blocks * nodes.layout()->block_bytes());
      BOOST_TEST(report.read_bytes == report.needed_bytes);
      BOOST_TEST(report.verified_bytes == report.needed_bytes);
      std::uint64_t over_rails = 0;
      for (const RailReport& rail : report.rails) over_rails += rail.bytes;
      BOOST_TEST(over_rails == report.needed_bytes);
    }
    BOOST_TEST(nodes.requester().memory().outstanding_bytes() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_short_prefix_is_a_success_and_no_prefix_is_not_found) {
  TwoNodes::Shape shape;
  TwoNodes nodes(shape, 2, 2);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  auto longer = nodes.fetch(**peer, nodes.keys_of(shape.blocks + 5));
  BOOST_REQUIRE_MESSAGE(longer.ok(), describe(longer));
  BOOST_TEST(longer->blocks() == shape.blocks);
  BOOST_TEST(nodes.mismatches(*longer) == 0u);

  auto elsewhere = std::make_shared<BlockKeys>(*nodes.keys());
  elsewhere->name_space = "model/b";
  auto missing = nodes.fetch(**peer, elsewhere);
  BOOST_REQUIRE(!missing.ok());
  BOOST_TEST((missing.error().code() == Errc::kNotFound), describe(missing));
}

BOOST_AUTO_TEST_CASE(another_layout_is_refused_before_anything_is_allocated) {
  TwoNodes nodes(TwoNodes::Shape{}, 1, 1);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  const auto other = std::make_shared<const Layout>(*Layout::make({Slot{8192, 4096, 0}}));
  auto view =
      TwoNodes::run(nodes.requester(), (*peer)->fetch_blocks(other, nodes.keys(), FetchOptions{}));
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kLayoutMismatch), describe(view));
  BOOST_TEST(nodes.requester().memory().mapped_bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(concurrent_reads_share_the_rails) {
  TwoNodes nodes(TwoNodes::Shape{}, 2, 2);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  std::vector<std::future<Result<BlockView>>> running;
  for (int i = 0; i < 8; ++i) {
    running.push_back(asio::co_spawn(
        nodes.requester().executor(),
        (*peer)->fetch_blocks(nodes.layout(), nodes.keys(), FetchOptions{}), asio::use_future));
  }
  for (auto& future : running) {
    auto view = future.get();
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(nodes.mismatches(*view) == 0u);
  }
}

BOOST_AUTO_TEST_CASE(an_unreachable_peer_is_one_clear_error) {
  TwoNodes nodes(TwoNodes::Shape{}, 1, 1);
  auto nobody = nodes.connect_to("127.0.0.1:1");
  BOOST_REQUIRE(!nobody.ok());
  BOOST_TEST((nobody.error().code() == Errc::kConnectFailed), describe(nobody));
  BOOST_TEST(nobody.error().detail().find("127.0.0.1:1") != std::string::npos, describe(nobody));
}

BOOST_AUTO_TEST_CASE(a_foreign_peer_is_one_clear_error) {
  TwoNodes nodes(TwoNodes::Shape{}, 1, 1);
  // Asio opens descriptors of its own with the first connect.
  BOOST_REQUIRE(!nodes.connect_to("127.0.0.1:1").ok());
  const std::size_t descriptors = open_descriptors();
  const std::string garbage =
      "\x01\xFF garbage that is longer than any greeting of ours \x7F\x80\x02";
  for (const std::string& words :
       {std::string("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), garbage}) {
    for (const bool stays : {true, false}) {
      BOOST_TEST_CONTEXT(words << (stays ? ", stays" : ", leaves")) {
        ForeignServer server(words, stays);
        const auto peer = nodes.connect_to(server.address());
        BOOST_REQUIRE(!peer.ok());
        BOOST_TEST((peer.error().code() == Errc::kIncompatible), describe(peer));
        BOOST_TEST(peer.error().peer().find(server.address()) != std::string::npos, describe(peer));
      }
    }
  }
  BOOST_TEST(comes_true([&] { return open_descriptors() == descriptors; }));
}

BOOST_AUTO_TEST_CASE(times_that_cannot_be_are_refused_by_name) {
  SteadyClock clock;
  SeededRandom random(1);
  const std::vector<std::pair<Duration NodeOptions::*, std::string>> times = {
      {&NodeOptions::call_deadline, "call-deadline"},   {&NodeOptions::keep_alive, "keep-alive"},
      {&NodeOptions::fence_deadline, "fence-deadline"}, {&NodeOptions::lease_ttl, "lease-ttl"},
      {&NodeOptions::lease_margin, "lease-margin"},
  };
  for (const auto& [member, name] : times) {
    for (const Duration wrong : {Duration(0), Duration(-1), Duration::max()}) {
      NodeOptions options;
      options.rails = {"tcp:127.0.0.1"};
      options.*member = wrong;
      const auto node = Node::create(options, clock, random, nullptr);
      BOOST_REQUIRE_MESSAGE(!node.ok(), name);
      BOOST_TEST((node.error().code() == Errc::kInvalidArgument), describe(node.error()));
      BOOST_TEST(node.error().detail().find(name) != std::string::npos, describe(node.error()));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_fetch_may_have_all_the_time_there_is_but_some) {
  TwoNodes nodes(TwoNodes::Shape{}, 1, 1);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  FetchOptions options;
  options.deadline = Duration::max();
  const auto view = nodes.fetch(**peer, nodes.keys(), options);
  BOOST_TEST(view.ok(), describe(view));
  options.deadline = Duration::zero();
  const auto never = nodes.fetch(**peer, nodes.keys(), options);
  BOOST_REQUIRE(!never.ok());
  BOOST_TEST((never.error().code() == Errc::kInvalidArgument), describe(never));
}

BOOST_AUTO_TEST_CASE(an_unknown_rail_is_refused_with_what_exists) {
  SteadyClock clock;
  SeededRandom random(1);
  for (const std::string rail : {"carrier-pigeon:1", "tcp:", "tcp:not-an-address", ""}) {
    NodeOptions options;
    options.rails = {rail};
    auto node = Node::create(options, clock, random, nullptr);
    BOOST_REQUIRE_MESSAGE(!node.ok(), rail);
    BOOST_TEST(node.error().to_string().find("tcp:") != std::string::npos, describe(node.error()));
  }
}

BOOST_AUTO_TEST_CASE(closing_gives_every_descriptor_back) {
  const std::size_t before = open_descriptors();
  {
    TwoNodes nodes(TwoNodes::Shape{}, 3, 3);
    nodes.save();
    auto peer = nodes.connect();
    BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
    auto view = nodes.fetch(**peer, nodes.keys());
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  }
  BOOST_TEST(open_descriptors() == before);
}

BOOST_AUTO_TEST_CASE(a_node_runs_on_the_callers_io_context) {
  asio::io_context context(1);
  SteadyClock clock;
  SeededRandom random(3);
  NodeOptions options;
  options.rails = {"tcp:127.0.0.1"};
  options.listen = "127.0.0.1:0";
  options.store.nodes = {NodeCapacity{0, kMiB}};
  auto node = Node::create(options, clock, random, &context);
  BOOST_REQUIRE_MESSAGE(node.ok(), describe(node));
  std::thread::id ran_on;
  const auto use = [](Node* owner, std::thread::id* where) -> Task<Result<void>> {
    auto started = co_await owner->start();
    *where = std::this_thread::get_id();
    if (started) {
      auto self = co_await owner->connect(owner->listen_address());
      if (!self) started = self.error();
    }
    co_await owner->close();
    co_return started;
  };
  auto done = asio::co_spawn((*node)->executor(), use(node->get(), &ran_on), asio::use_future);
  context.run();
  (*node)->stop();
  const auto result = done.get();
  BOOST_TEST(result.ok(), describe(result));
  BOOST_TEST((ran_on == std::this_thread::get_id()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::test
