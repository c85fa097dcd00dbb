#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "test/node/holder_process.h"
#include "test/node/support.h"
#include "test/node/two_nodes.h"
#include "test/support/canary.h"

namespace corail::test {
namespace {

/// Bytes of the first `blocks` blocks that a dense copy does not have where they belong.
std::uint64_t wrong_in_copy(std::span<const std::byte> copy, const Layout& layout,
                            std::uint32_t blocks) {
  std::uint64_t wrong = 0;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    for (std::uint32_t lane = 0; lane < layout.lanes(); ++lane) {
      const std::uint64_t at = block * layout.block_bytes() + layout.lane_offset(lane);
      for (std::uint32_t i = 0; i < layout.lane_bytes()[lane]; ++i) {
        wrong += copy[at + i] != content(block, lane, i);
      }
    }
  }
  return wrong;
}

BOOST_AUTO_TEST_SUITE(copy_on_commit)

BOOST_AUTO_TEST_CASE(the_blocks_that_are_there_are_copied_and_nothing_else_is_written) {
  const TwoNodes::Shape shape;
  TwoNodes nodes(shape, 2, 2);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  const std::uint64_t prefix = shape.blocks * nodes.layout()->block_bytes();
  // Three more blocks are asked for than there are.
  std::vector<std::byte> memory(prefix + 3 * nodes.layout()->block_bytes());
  const Canary canary(memory, 11);
  FetchOptions options;
  options.copy_on_commit = memory;
  auto view = nodes.fetch(**peer, nodes.keys_of(shape.blocks + 3), options);
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  BOOST_TEST(view->blocks() == shape.blocks);
  BOOST_TEST(nodes.mismatches(*view) == 0U);
  BOOST_TEST(wrong_in_copy(memory, *nodes.layout(), shape.blocks) == 0U);
  BOOST_TEST(!first_difference(std::span(memory).subspan(prefix), 11, prefix).has_value());
  BOOST_TEST((view->report().stages.copy > Duration::zero()));
}

BOOST_AUTO_TEST_CASE(too_little_memory_for_all_keys_is_refused_before_anything_is_sent) {
  const TwoNodes::Shape shape;
  TwoNodes nodes(shape, 1, 1);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  std::vector<std::byte> memory(shape.blocks * nodes.layout()->block_bytes() - 1);
  const Canary canary(memory, 12);
  FetchOptions options;
  options.copy_on_commit = memory;
  auto view = nodes.fetch(**peer, nodes.keys(), options);
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kInvalidArgument), describe(view));
  BOOST_TEST(canary.changed_bytes() == 0U);
  BOOST_TEST(nodes.holder_stats().ended_reads == 0U);  // it has not heard of the read
}

BOOST_AUTO_TEST_CASE(a_holder_that_dies_leaves_every_byte_as_it_was) {
  TwoNodes::Shape shape;
  shape.blocks = 256;
  shape.segment_bytes = 16 * 1024;
  HolderProcess process(shape, 2);
  TwoNodes nodes(shape, 2, 2);
  auto peer = nodes.connect_to(process.address());
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  std::vector<std::byte> memory(shape.blocks * nodes.layout()->block_bytes());
  const Canary canary(memory, 13);
  FetchOptions options;
  options.copy_on_commit = memory;
  auto running = asio::co_spawn(nodes.requester().executor(),
                                (*peer)->fetch_blocks(nodes.layout(), nodes.keys(), options),
                                asio::use_future);
  BOOST_TEST(comes_true([&] { return nodes.requester().memory().outstanding_bytes() > 0; }));
  process.kill();
  auto view = running.get();
  // It may have been quick.
  if (view.ok()) {
    BOOST_TEST(wrong_in_copy(memory, *nodes.layout(), shape.blocks) == 0U);
  } else {
    BOOST_TEST(canary.changed_bytes() == 0U, describe(view));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
