// Blocks of every --layout, read from a real node by another one over loopback.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <utility>
#include <vector>

#include "apps/p2p_bench/destination.h"
#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/read_round.h"
#include "apps/p2p_bench/save_steps.h"
#include "apps/p2p_bench/verify.h"
#include "test/bench/stored_node.h"

namespace corail::bench {
namespace {

/// A requester that is connected to a node with the sets of a shape.
class Reader {
 public:
  explicit Reader(const Shape& shape) : shape_(shape), holder_(shape), requester_(options()) {
    auto layout = make_layout(shape_);
    BOOST_REQUIRE(layout.ok());
    layout_ = std::make_shared<const Layout>(std::move(*layout));
    Node& node = requester_.node();
    auto peer = await_on(node.executor(), node.connect(holder_.node().listen_address()));
    BOOST_REQUIRE(peer.ok());
    peer_ = std::move(*peer);
  }

  BlockView fetch(std::uint32_t set, AnswerEncoding encoding) {
    RoundRequest request = round({set});
    request.fetch.encoding = encoding;
    ReadRound done = run_round(request);
    BOOST_REQUIRE(done.reads.size() == 1U);
    BOOST_REQUIRE(done.reads[0].view.ok());
    return std::move(*done.reads[0].view);
  }

  /// Reads a set, checks every byte of it, and returns what the engine counted.
  ReadReport read(std::uint32_t set, AnswerEncoding encoding) {
    const BlockView view = fetch(set, encoding);
    BOOST_TEST(view.blocks() == shape_.blocks);
    const ContentCheck check = check_content(view, shape_, set, request_order(shape_, set));
    BOOST_TEST(check.checked_bytes == shape_.payload_bytes());
    BOOST_TEST(check.wrong_bytes == 0U);
    return view.report();
  }

  RoundRequest round(const std::vector<std::uint32_t>& sets) {
    RoundRequest request;
    request.node = &requester_.node();
    request.peer = peer_.get();
    request.clock = &clock_;
    request.layout = layout_;
    for (const std::uint32_t set : sets) {
      const std::vector<std::uint32_t> order = request_order(shape_, set);
      request.keys.push_back(std::make_shared<const BlockKeys>(make_keys(shape_, set, order)));
    }
    return request;
  }

  Node& requester() { return requester_.node(); }
  Clock& clock() { return clock_; }

 private:
  static NodeOptions options() {
    NodeOptions options;
    options.rails = {"tcp:127.0.0.1", "tcp:127.0.0.2"};
    return options;
  }

  const Shape shape_;
  SteadyClock clock_;
  StoredNode holder_;
  StartedNode requester_;
  std::shared_ptr<const Layout> layout_;
  std::shared_ptr<Peer> peer_;
};

BOOST_AUTO_TEST_SUITE(layout_reads)

BOOST_AUTO_TEST_CASE(every_layout_is_read_without_a_byte_too_many) {
  for (const auto& [name, placement] : kPlacements) {
    BOOST_TEST_CONTEXT(name) {
      Shape shape;
      shape.blocks = 130;
      shape.layers = 3;
      shape.ranks = 5;
      shape.segment_bytes = 1000;
      shape.sets = 2;
      shape.placement = placement;
      Reader reader(shape);
      for (const AnswerEncoding encoding :
           {AnswerEncoding::kParts, AnswerEncoding::kRuns, AnswerEncoding::kSegments}) {
        const ReadReport report = reader.read(1, encoding);
        BOOST_TEST(report.needed_bytes == shape.payload_bytes());
        BOOST_TEST(report.read_bytes == report.needed_bytes);
        BOOST_TEST(report.verified_bytes == report.needed_bytes);
      }
    }
  }
}

/// Addresses are told, and reads planned, without looking at the size of a segment: small ones do.
BOOST_AUTO_TEST_CASE(a_permuted_prefix_of_1000_blocks_costs_no_more_reads_and_a_small_answer) {
  Shape shape;
  shape.blocks = 1000;
  shape.segment_bytes = 64;
  const ReadReport bump = Reader(shape).read(0, AnswerEncoding::kParts);
  shape.placement = Placement::kPermuted;
  const ReadReport permuted = Reader(shape).read(0, AnswerEncoding::kParts);
  BOOST_TEST(permuted.reads_planned <= bump.reads_planned);
  BOOST_TEST(permuted.query_response_bytes <= 40'000U);
}

BOOST_AUTO_TEST_CASE(memory_that_is_looked_at_is_that_of_the_reads_before) {
  for (const auto& [name, placement] : kPlacements) {
    Shape shape;
    shape.blocks = 70;
    shape.segment_bytes = 100;
    shape.sets = 3;
    shape.placement = placement;
    Reader reader(shape);
    std::vector<const std::byte*> segments;
    {
      const ReadRound round = run_round(reader.round({0, 1, 2}));
      for (const ReadOutcome& read : round.reads) {
        BOOST_REQUIRE(read.view.ok());
        for (std::uint32_t block = 0; block < shape.blocks; ++block) {
          for (std::uint32_t lane = 0; lane < shape.lanes(); ++lane) {
            segments.push_back(read.view->segment(block, lane).data());
          }
        }
      }
    }
    BOOST_REQUIRE(segments.size() == std::size_t{3} * shape.blocks * shape.lanes());
    auto chunks = allocate_like_reads(reader.requester().memory(), shape, 3);
    BOOST_REQUIRE(chunks.ok());
    const auto covered = [&](const std::byte* segment) {
      return std::ranges::any_of(*chunks, [&](const SlabChunk& chunk) {
        const auto bytes = chunk.bytes();
        return segment >= bytes.data() &&
               segment + shape.segment_bytes <= bytes.data() + bytes.size();
      });
    };
    BOOST_TEST(std::ranges::all_of(segments, covered), name);
    chunks->clear();
    const auto check = check_reused_memory(reader.requester(), reader.clock(), shape, 3);
    BOOST_REQUIRE(check.ok());
    BOOST_TEST(check->checked_bytes == shape.stored_bytes(), name);
    BOOST_TEST(check->wrong_bytes == 0U, name);
  }
}

BOOST_AUTO_TEST_CASE(reads_of_a_round_are_cancelled_when_asked) {
  Shape shape;
  shape.blocks = 16;
  shape.sets = 2;
  Reader reader(shape);
  RoundRequest request = reader.round({0, 1, 0});
  request.cancel_after = Duration::zero();
  const ReadRound round = run_round(request);
  BOOST_REQUIRE(round.reads.size() == 3U);
  for (const ReadOutcome& read : round.reads) {
    BOOST_REQUIRE(!read.view.ok());
    BOOST_TEST((read.view.error().code() == Errc::kCancelled));
    BOOST_REQUIRE(read.cancel_asked.has_value());
    BOOST_TEST((read.ended > *read.cancel_asked));
  }
  request.cancel_after.reset();
  request.fetch.cancel.cancel();
  for (const ReadOutcome& read : run_round(request).reads) {
    BOOST_REQUIRE(!read.view.ok());
    BOOST_TEST((read.view.error().code() == Errc::kCancelled));
    BOOST_TEST(!read.cancel_asked.has_value());
  }
  // The rails go on.
  reader.read(1, AnswerEncoding::kParts);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
