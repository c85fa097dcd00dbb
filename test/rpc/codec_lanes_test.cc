// Sums of lanes as a stranger may ask and answer.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "proto/corail/v1/blocks.pb.h"
#include "rpc/codec.h"
#include "test/rpc/bytes.h"

namespace corail::test {
namespace {

constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

std::string complaint_about(std::uint64_t read, std::uint32_t begin, std::uint32_t end) {
  v1::LaneSumsRequest message;
  message.set_read_id(read);
  message.set_lane_begin(begin);
  message.set_lane_end(end);
  const auto decoded = decode_lane_sums(bytes_of(message.SerializeAsString()));
  if (decoded.ok()) return "";
  BOOST_TEST((decoded.error().code() == Errc::kProtocol));
  return decoded.error().detail();
}

bool names(const std::string& complaint, std::string_view field) {
  return complaint.find(field) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(codec_lanes)

BOOST_AUTO_TEST_CASE(ranges_that_no_layout_has_are_refused) {
  BOOST_TEST(complaint_about(1, 0, 1) == "");
  BOOST_TEST(complaint_about(1, 131'071, 131'072) == "");
  BOOST_TEST(names(complaint_about(0, 0, 1), "read_id"));
  BOOST_TEST(names(complaint_about(1, 0, 0), "lane_end"));
  BOOST_TEST(names(complaint_about(1, 7, 7), "lane_end"));
  BOOST_TEST(names(complaint_about(1, 8, 7), "lane_end"));
  BOOST_TEST(names(complaint_about(1, 0, 131'073), "lane_end"));
  BOOST_TEST(names(complaint_about(1, kMost - 1, kMost), "lane_end"));
  BOOST_TEST(names(complaint_about(1, kMost, 0), "lane_end"));
}

BOOST_AUTO_TEST_CASE(an_answer_has_one_sum_for_each_block) {
  const LaneSums told{{1, 2, 3}, {4, 5, 6}};
  const Bytes body = body_of(encode_lane_sums_answer(told));
  const auto back = decode_lane_sums_answer(body, 3);
  BOOST_TEST((back.ok() && back->sums == told.sums && back->rests == told.rests));
  BOOST_TEST(!decode_lane_sums_answer(body_of(encode_lane_sums_answer({{1}, {}})), 1).ok());
  BOOST_TEST(!decode_lane_sums_answer(body_of(encode_lane_sums_answer({{}, {1}})), 1).ok());
  for (const std::uint32_t blocks : {0U, 2U, 4U, 65'536U}) {
    const auto decoded = decode_lane_sums_answer(body, blocks);
    BOOST_REQUIRE(!decoded.ok());
    BOOST_TEST(names(decoded.error().detail(), "sums"));
  }
  BOOST_TEST(body_of(encode_lane_sums_answer({})).empty());
  BOOST_TEST(!decode_lane_sums_answer({}, 1).ok());
  // In two pieces, which Protobuf allows.
  Bytes pieces = body;
  pieces.insert(pieces.end(), body.begin(), body.end());
  BOOST_TEST(decode_lane_sums_answer(pieces, 6).ok());
  BOOST_TEST(!decode_lane_sums_answer(pieces, 5).ok());
}

BOOST_AUTO_TEST_CASE(the_longest_answer_fits_into_a_frame) {
  const std::vector<std::uint64_t> sums(65'536, 1);
  const Bytes body = body_of(encode_lane_sums_answer(LaneSums{sums, sums}));
  BOOST_TEST(body.size() <= limits_of(Method::kLaneSums).answer_bytes);
  BOOST_TEST(decode_lane_sums_answer(body, 65'536).ok());
}

BOOST_AUTO_TEST_CASE(mutants_are_taken_or_refused_but_break_nothing) {
  SeededRandom random(11);
  const Bytes request = body_of(encode_lane_sums(ReadId(77), LaneRange{3, 300}));
  const Bytes answer = body_of(encode_lane_sums_answer(LaneSums{{1, 2, 3}, {4, 5, 6}}));
  for (int i = 0; i < 20'000; ++i) {
    const auto asked = decode_lane_sums(mutated(request, random));
    if (asked.ok()) BOOST_REQUIRE((asked->lanes.begin < asked->lanes.end));
    const auto sums = decode_lane_sums_answer(mutated(answer, random), 3);
    if (sums.ok()) BOOST_REQUIRE((sums->sums.size() == 3U && sums->rests.size() == 3U));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
