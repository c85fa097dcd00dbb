#include <boost/test/unit_test.hpp>
#include <functional>
#include <span>

#include "rpc/codec.h"
#include "test/rpc/answer_messages.h"
#include "test/rpc/bytes.h"
#include "test/rpc/codec_checks.h"
#include "test/rpc/codec_samples.h"

namespace corail::test {
namespace {

void check_refused(const QueryAnswer& answer, std::string_view field,
                   const std::function<void(AnswerMessage&)>& change) {
  AnswerMessage message = generated(answer);
  change(message);
  const auto result = decoded(message, expectation_of(answer));
  BOOST_TEST_CONTEXT(field) {
    BOOST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == Errc::kProtocol));
    BOOST_TEST(result.error().detail().find(field) != std::string::npos);
  }
}

/// Half of the lanes in either part; the blocks in an order of their own, each part-run one block.
QueryAnswer permuted_answer() {
  QueryAnswer answer = seed_answer();
  answer.encoding = AnswerEncoding::kParts;
  answer.runs = RunTable();
  answer.parts.lane_sets.resize(2);
  for (std::uint32_t lane = 0; lane < answer.layout->lanes(); ++lane) {
    answer.parts.lane_sets[lane / 2 % 8 / 4].push_back(lane);
  }
  PartPhase& phase = answer.parts.phases.emplace_back();
  phase.blocks = answer.block_count;
  SeededRandom random(5);
  for (std::uint32_t set = 0; set < 2; ++set) {
    PartShape& shape = answer.parts.shapes.emplace_back();
    shape.lane_set = set;
    const std::size_t lanes = answer.parts.lane_sets[set].size();
    for (std::size_t lane = 0; lane < lanes; ++lane) shape.offset.push_back(lane * 4096);
    shape.stride = {lanes * 4096};
    PartColumn& column = phase.columns.emplace_back();
    column.lane_set = set;
    for (std::uint32_t block = 0; block < answer.block_count; ++block) {
      const std::uint64_t at = random.below(1000) * shape.stride[0];
      column.runs.push_back({set, 1, 0x7F00'0000'0000 + at, 0, 0, 0});
    }
  }
  return answer;
}

BOOST_AUTO_TEST_SUITE(answer_encodings)

BOOST_AUTO_TEST_CASE(round_trip_and_equal_to_generated_code) {
  for (const QueryAnswer& answer :
       {small_parts_answer(), small_segments_answer(), permuted_answer()}) {
    const Bytes body = encoded(answer);
    const auto back = decode_query_answer(body, expectation_of(answer));
    BOOST_REQUIRE(back.ok());
    BOOST_TEST((back->blocks.encoding == answer.encoding));
    BOOST_TEST((back->blocks.parts == answer.parts));
    BOOST_TEST((back->blocks.runs == answer.runs));
    BOOST_TEST(generated(answer).SerializeAsString() == text_of(body));
  }
}

BOOST_AUTO_TEST_CASE(golden_bytes_of_a_part_table) {
  const AnswerMessage message = generated(small_parts_answer());
  BOOST_TEST(hex_of(bytes_of_message(message.parts())) ==
             "0a020201"    // lane_set_sizes
             "1203000102"  // lanes
             "1a03000101"  // shape_lane_sets
             "2203010101"  // shape_strides
             "2a060080408001"
             "00"                // offsets
             "32068040ac028004"  // strides
             "3a0102"            // phase_blocks
             "420102"            // phase_columns
             "4a020001"          // column_lane_sets
             "52020102"          // column_runs
             "5a03000102"        // run_shapes
             "6203020101"        // run_counts
             "6a1180c0808080c03fffff"
             "fbffffbf3f"
             "ffff03"          // run_bases
             "7203000300"      // run_indices
             "7a04ff7f0000"    // run_base_steps
             "820103000002");  // run_index_steps
}

BOOST_AUTO_TEST_CASE(a_prefix_in_random_order_stays_small) {
  BOOST_TEST(kFrameHeaderBytes + encoded(permuted_answer()).size() <= 40'000U);
}

BOOST_AUTO_TEST_CASE(an_answer_has_the_encoding_that_was_asked_for) {
  for (const QueryAnswer& answer :
       {small_answer(), small_parts_answer(), small_segments_answer()}) {
    for (const auto asked :
         {AnswerEncoding::kRuns, AnswerEncoding::kParts, AnswerEncoding::kSegments}) {
      QueryExpectation expected = expectation_of(answer);
      expected.encoding = asked;
      const auto back = decode_query_answer(encoded(answer), expected);
      // Runs are an answer to the question for parts, too.
      const bool either =
          asked == AnswerEncoding::kParts && answer.encoding == AnswerEncoding::kRuns;
      BOOST_TEST(back.ok() == (asked == answer.encoding || either));
      if (back.ok()) BOOST_TEST((back->blocks.encoding == answer.encoding));
    }
  }
}

BOOST_AUTO_TEST_CASE(every_array_is_checked_and_named) {
  const QueryAnswer answer = small_parts_answer();
  const auto refused = [&](std::string_view field, void (*change)(v1::PartTable&)) {
    check_refused(answer, field, [change](AnswerMessage& m) { change(*m.mutable_parts()); });
  };
  refused("lane_set_sizes", [](v1::PartTable& p) { p.set_lane_set_sizes(0, 4); });
  refused("lanes", [](v1::PartTable& p) { p.add_lanes(2); });
  refused("shape_lane_sets", [](v1::PartTable& p) { p.set_shape_lane_sets(0, 2); });
  refused("shape_strides", [](v1::PartTable& p) { p.add_shape_strides(0); });
  refused("offsets", [](v1::PartTable& p) { p.add_offsets(0); });
  refused("offsets", [](v1::PartTable& p) { p.mutable_offsets()->RemoveLast(); });
  refused("strides", [](v1::PartTable& p) { p.set_shape_strides(0, 2); });
  refused("strides", [](v1::PartTable& p) { p.add_strides(1); });
  refused("phase_columns", [](v1::PartTable& p) { p.set_phase_columns(0, 3); });
  refused("phase_columns", [](v1::PartTable& p) { p.set_phase_columns(0, 1); });
  refused("phase_columns", [](v1::PartTable& p) { p.add_phase_blocks(1); });
  refused("column_runs", [](v1::PartTable& p) { p.add_column_runs(0); });
  refused("column_runs", [](v1::PartTable& p) { p.set_column_runs(1, 3); });
  refused("column_runs", [](v1::PartTable& p) { p.set_column_runs(1, 1); });
  refused("run_counts", [](v1::PartTable& p) { p.add_run_counts(1); });
  refused("run_bases", [](v1::PartTable& p) { p.add_run_bases(1); });
  refused("run_base_steps", [](v1::PartTable& p) { p.clear_run_base_steps(); });
  refused("run_indices", [](v1::PartTable& p) { p.add_run_indices(1); });
  refused("run_index_steps", [](v1::PartTable& p) { p.add_run_index_steps(1); });
  check_refused(answer, "parts", [](AnswerMessage& m) { m.add_run_base(1); });
  check_refused(small_segments_answer(), "run_base", [](AnswerMessage& m) { m.add_run_count(1); });
}

BOOST_AUTO_TEST_CASE(truncated_at_every_byte_and_mutated_at_random) {
  const QueryAnswer answer = small_parts_answer();
  const Bytes body = encoded(answer);
  // Nothing at all would be an answer: no block was found.
  for (std::size_t size = 1; size < body.size(); ++size) {
    // A copy of exactly that size, so that the sanitizer sees a read behind it.
    const Bytes cut(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
    const auto back = decode_query_answer(cut, expectation_of(answer));
    BOOST_TEST(!back.ok());
  }
  SeededRandom random(9);
  for (int round = 0; round < 20'000; ++round) {
    Bytes changed = body;
    for (std::uint64_t i = 0; i <= random.below(3); ++i) {
      changed[random.below(changed.size())] = static_cast<std::byte>(random.next());
    }
    const auto back = decode_query_answer(changed, expectation_of(answer));
    if (!back.ok()) continue;
    // What is accepted is at least consistent in itself, or the planner's check says so.
    const auto valid = validate(back->blocks.parts, *answer.layout, 2, 1000);
    if (valid.ok())
      BOOST_TEST(expand(back->blocks.parts, *answer.layout).runs_per_lane.size() == 3U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
