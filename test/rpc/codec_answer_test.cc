#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>

#include "rpc/codec.h"
#include "rpc/wire_format.h"
#include "test/rpc/answer_messages.h"
#include "test/rpc/bytes.h"
#include "test/rpc/codec_samples.h"

namespace corail::test {
namespace {

using Message = AnswerMessage;

void check_equal(const QueryAnswer& a, const QueryAnswer& b) {
  BOOST_TEST((a.lease == b.lease && a.ttl == b.ttl && a.generation == b.generation));
  BOOST_TEST(a.block_count == b.block_count);
  BOOST_TEST((a.runs == b.runs));
  BOOST_TEST(a.checksums == b.checksums, boost::test_tools::per_element());
}

/// The message with one thing changed is refused, and the error names the field.
template <typename Change>
void check_refused(Change change, std::string_view field, Errc code = Errc::kProtocol) {
  const QueryAnswer answer = small_answer();
  Message message = generated(answer);
  change(message);
  const auto result = decoded(message, expectation_of(answer));
  BOOST_TEST_CONTEXT(field) {
    BOOST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == code));
    BOOST_TEST(result.error().detail().find(field) != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE(query_answer)

BOOST_AUTO_TEST_CASE(golden_bytes) {
  BOOST_TEST(hex_of(encoded(small_answer())) ==
             "09"
             "07b007b007b007b0"  // lease_boot_id
             "1007"              // lease_counter
             "18dc0b"            // ttl_ms
             "2002"              // block_count
             "2803"              // table_generation
             "3206"
             "088020"
             "108020"  // slot 0
             "3205"
             "08ac02"
             "1802"  // slot 1
             "3a03"
             "010102"  // runs_per_lane
             "4220"
             "0010000000000000"
             "0020000000000000"
             "00000000007f0000"
             "0090000000000000"
             "4a07"
             "808001"
             "ff7f"
             "00"
             "02"  // run_stride
             "5204"
             "02020101"  // run_count
             "5a10"
             "0807060504030201"
             "ffffffffffffffff");
}

BOOST_AUTO_TEST_CASE(round_trip_and_equal_to_generated_code) {
  for (const QueryAnswer& answer : {small_answer(), seed_answer()}) {
    const Bytes body = encoded(answer);
    const auto back = decode_query_answer(body, expectation_of(answer));
    BOOST_REQUIRE(back.ok());
    check_equal(back->blocks, answer);
    BOOST_TEST(back->blocks.layout.get() == answer.layout.get());
    BOOST_TEST(generated(answer).SerializeAsString() == text_of(body));
  }
}

BOOST_AUTO_TEST_CASE(random_run_tables_round_trip) {
  SeededRandom random(11);
  for (int round = 0; round < 300; ++round) {
    QueryAnswer answer = small_answer();
    RunTable& runs = answer.runs;
    runs = RunTable();
    for (int lane = 0; lane < 3; ++lane) {
      const auto count = static_cast<std::uint32_t>(random.below(5));
      runs.runs_per_lane.push_back(count);
      for (std::uint32_t i = 0; i < count; ++i) {
        runs.base.push_back(random.next() >> random.below(64));
        runs.stride.push_back(static_cast<std::int64_t>(random.next()) >> random.below(64));
        runs.count.push_back(static_cast<std::uint32_t>(random.next() >> random.below(64)));
      }
    }
    const auto back = decode_query_answer(encoded(answer), expectation_of(answer));
    BOOST_REQUIRE(back.ok());
    BOOST_REQUIRE((back->blocks.runs == runs));
    BOOST_REQUIRE(generated(answer).SerializeAsString() == text_of(encoded(answer)));
  }
}

BOOST_AUTO_TEST_CASE(the_seed_shape_is_small) {
  const QueryAnswer answer = seed_answer();
  const Bytes body = encoded(answer);
  const auto back = decode_query_answer(body, expectation_of(answer));
  BOOST_REQUIRE(back.ok());
  BOOST_TEST_MESSAGE("answer " << body.size() << " bytes, run table " << back->run_table_bytes);
  BOOST_TEST(back->run_table_bytes <= 13'000U);
  BOOST_TEST(kFrameHeaderBytes + body.size() <= back->run_table_bytes + 8 * 1000 + 100);
}

BOOST_AUTO_TEST_CASE(unpacked_and_split_arrays_are_the_same) {
  const QueryAnswer answer = small_answer();
  const Bytes body = encoded(answer);
  // An array may come in pieces, each packed or not: move the last count into an element alone.
  Bytes split(body.begin(), body.end());
  const Bytes counts = {std::byte{0x52}, std::byte{4}, std::byte{2},
                        std::byte{2},    std::byte{1}, std::byte{1}};
  const auto at = std::search(split.begin(), split.end(), counts.begin(), counts.end());
  BOOST_REQUIRE((at != split.end()));
  at[1] = std::byte{3};
  at[5] = std::byte{0x50};
  split.insert(at + 6, std::byte{1});
  const auto back = decode_query_answer(split, expectation_of(answer));
  BOOST_REQUIRE(back.ok());
  check_equal(back->blocks, answer);
}

BOOST_AUTO_TEST_CASE(nothing_found_is_a_success) {
  QueryAnswer answer;
  answer.generation = TableGeneration(4);
  QueryExpectation expected = expectation_of(small_answer());
  const auto back = decode_query_answer(encoded(answer), expected);
  BOOST_REQUIRE(back.ok());
  BOOST_TEST(back->blocks.block_count == 0U);
  BOOST_TEST((back->blocks.generation == answer.generation));
}

BOOST_AUTO_TEST_CASE(truncated_at_every_byte) {
  const QueryAnswer answer = small_answer();
  const Bytes body = encoded(answer);
  for (std::size_t size = 0; size < body.size(); ++size) {
    // A copy of exactly that size, so that the sanitizer sees a read behind it.
    const Bytes cut(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
    const auto result = decode_query_answer(cut, expectation_of(answer));
    if (size == 0) continue;  // an empty message: no block found
    BOOST_TEST(!result.ok());
  }
}

BOOST_AUTO_TEST_CASE(every_field_is_checked_and_named) {
  check_refused([](Message& m) { m.set_lease_boot_id(1); }, "lease_boot_id");
  check_refused([](Message& m) { m.set_ttl_ms(0); }, "ttl_ms");
  check_refused([](Message& m) { m.set_ttl_ms(kMaxTtlMs + 1); }, "ttl_ms");
  check_refused([](Message& m) { m.set_block_count(3); }, "block_count");
  check_refused([](Message& m) { m.set_block_count(0); }, "block_count");
  check_refused([](Message& m) { m.set_block_count(1); }, "block_checksums");
  check_refused([](Message& m) { m.add_block_checksums(1); }, "block_checksums");
  check_refused([](Message& m) { m.mutable_block_checksums()->RemoveLast(); }, "block_checksums");
  check_refused([](Message& m) { m.add_runs_per_lane(0); }, "runs_per_lane");
  check_refused([](Message& m) { m.mutable_runs_per_lane()->RemoveLast(); }, "runs_per_lane");
  check_refused([](Message& m) { m.set_runs_per_lane(0, 0xFFFFFFFF); }, "runs_per_lane");
  check_refused([](Message& m) { m.add_run_base(1); }, "bases");
  check_refused([](Message& m) { m.mutable_run_stride()->RemoveLast(); }, "strides");
  check_refused([](Message& m) { m.add_run_count(1); }, "counts");
  const auto mismatch = Errc::kLayoutMismatch;
  check_refused([](Message& m) { m.mutable_slot_template(1)->set_k_size(301); }, "slot 1",
                mismatch);
  check_refused([](Message& m) { m.mutable_slot_template(1)->set_v_size(1); }, "slot 1", mismatch);
  check_refused([](Message& m) { m.add_slot_template()->set_k_size(1); }, "3 slots", mismatch);
  check_refused([](Message& m) { m.mutable_slot_template()->RemoveLast(); }, "1 slots", mismatch);
}

BOOST_AUTO_TEST_CASE(arrays_that_are_too_long_allocate_nothing) {
  const QueryAnswer answer = small_answer();
  const auto refuse = [&answer](std::uint32_t field, std::size_t bytes, std::byte fill,
                                std::string_view name) {
    Bytes body(1 + varint_bytes(bytes) + bytes, fill);
    WireWriter writer(body);
    writer.tag(field, WireType::kBytes);
    writer.varint(bytes);
    const auto result = decode_query_answer(body, expectation_of(answer));
    BOOST_REQUIRE(!result.ok());
    BOOST_TEST(result.error().detail().find(name) != std::string::npos);
  };
  constexpr std::size_t kHuge = 5 << 20;
  refuse(7, 2 * kMaxSlots + 1, std::byte{0}, "runs_per_lane");
  refuse(8, 8 * kHuge, std::byte{0}, "run_base");
  refuse(9, kHuge, std::byte{0}, "run_stride");
  refuse(10, kHuge, std::byte{0}, "run_count");
  refuse(11, 24, std::byte{0}, "block_checksums");
  refuse(8, 7, std::byte{0}, "run_base");       // no whole number
  refuse(10, 6, std::byte{0xFF}, "run_count");  // no end
  // A stride of more than 64 bits, and a count of more than 32.
  refuse(9, 10, std::byte{0x81}, "run_stride");
}

BOOST_AUTO_TEST_CASE(hostile_mutations) {
  const QueryAnswer answer = small_answer();
  const Bytes body = encoded(answer);
  SeededRandom random(5);
  int refused = 0;
  for (int i = 0; i < 50'000; ++i) {
    const auto result = decode_query_answer(mutated(body, random), expectation_of(answer));
    if (!result.ok()) {
      ++refused;
      continue;
    }
    BOOST_REQUIRE(result->blocks.block_count <= 2);
    BOOST_REQUIRE(result->blocks.runs.runs() == result->blocks.runs.count.size());
  }
  BOOST_TEST(refused > 10'000);
}

BOOST_AUTO_TEST_CASE(templates_are_encoded_once_per_layout) {
  TemplateCache templates;
  const auto first = layout_of({Slot{1, 2, 0}});
  const auto* const data = templates.encoded(first).data();
  BOOST_TEST(templates.encoded(first).data() == data);
  std::vector<std::shared_ptr<const Layout>> others;
  for (std::uint32_t i = 1; i <= 3 * TemplateCache::kMaxTemplates; ++i) {
    others.push_back(layout_of({Slot{i, 0, 0}}));
    const auto bytes = templates.encoded(others.back());
    v1::SlotTemplate slot;
    BOOST_REQUIRE(slot.ParseFromArray(bytes.data() + 2, static_cast<int>(bytes.size() - 2)));
    BOOST_TEST(slot.k_size() == i);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
