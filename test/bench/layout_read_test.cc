// Blocks of every --layout, read from a real node by another one over loopback.
#include <boost/test/unit_test.hpp>
#include <utility>
#include <vector>

#include "apps/p2p_bench/node_call.h"
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

  /// Reads a set, checks every byte of it, and returns what the engine counted.
  ReadReport read(std::uint32_t set, AnswerEncoding encoding) {
    const std::vector<std::uint32_t> order = request_order(shape_, set);
    const auto keys = std::make_shared<const BlockKeys>(make_keys(shape_, set, order));
    FetchOptions options;
    options.encoding = encoding;
    auto view = await_on(requester_.node().executor(),
                         peer_->fetch_blocks(layout_, keys, std::move(options)));
    BOOST_REQUIRE(view.ok());
    BOOST_TEST(view->blocks() == shape_.blocks);
    const ContentCheck check = check_content(*view, shape_, set, order);
    BOOST_TEST(check.checked_bytes == shape_.payload_bytes());
    BOOST_TEST(check.wrong_bytes == 0U);
    return view->report();
  }

 private:
  static NodeOptions options() {
    NodeOptions options;
    options.rails = {"tcp:127.0.0.1", "tcp:127.0.0.2"};
    return options;
  }

  const Shape shape_;
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
