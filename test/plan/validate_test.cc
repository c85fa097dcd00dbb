#include <boost/test/unit_test.hpp>
#include <limits>

#include "engine/plan/run_table.h"
#include "test/plan/scenario.h"

namespace corail::testing {
namespace {

constexpr std::uint32_t kBytes = 64;
constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kTop = ~std::uint64_t{0};

/// Two lanes (K and V of one slot), ten blocks, two runs a lane.
RunTable good() { return {{2, 2}, {1000, 9000, 20'000, 30'000}, {64, -64, 128, 0}, {4, 6, 9, 1}}; }

std::optional<Errc> outcome(const RunTable& table, const RunLimits& limits = {},
                            std::uint32_t blocks = 10) {
  const auto layout = uniform_layout(1, kBytes, kBytes);
  const auto valid = validate(table, *layout, blocks, limits);
  if (valid) return std::nullopt;
  return valid.error().code();
}

/// One lane of K only, one run.
std::optional<Errc> one_run(std::uint64_t base, std::int64_t stride, std::uint32_t count) {
  const auto layout = uniform_layout(1, kBytes, 0);
  const auto valid = validate({{1}, {base}, {stride}, {count}}, *layout, count, RunLimits{});
  if (valid) return std::nullopt;
  return valid.error().code();
}

template <typename Break>
bool refused(Break broken) {
  RunTable table = good();
  broken(table);
  return outcome(table) == Errc::kBadRunTable;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(validation)

BOOST_AUTO_TEST_CASE(a_good_table_passes) { BOOST_TEST(!outcome(good()).has_value()); }

BOOST_AUTO_TEST_CASE(arrays_that_do_not_match_are_refused) {
  BOOST_TEST(refused([](RunTable& t) { t.base.pop_back(); }));
  BOOST_TEST(refused([](RunTable& t) { t.stride.pop_back(); }));
  BOOST_TEST(refused([](RunTable& t) { t.count.pop_back(); }));
  BOOST_TEST(refused([](RunTable& t) { t.runs_per_lane.pop_back(); }));
  BOOST_TEST(refused([](RunTable& t) { t.runs_per_lane.push_back(0); }));
  BOOST_TEST(refused([](RunTable& t) { t = RunTable{}; }));
  BOOST_TEST(refused([](RunTable& t) {
    t.base.push_back(50'000);
    t.stride.push_back(0);
    t.count.push_back(1);
  }));
}

BOOST_AUTO_TEST_CASE(runs_per_lane_are_checked) {
  BOOST_TEST(refused([](RunTable& t) { t.runs_per_lane = {1, 3}; }));
  BOOST_TEST(refused([](RunTable& t) { t.runs_per_lane = {2, 3}; }));
  BOOST_TEST(refused([](RunTable& t) { t.runs_per_lane = {0, 4}; }));
  BOOST_TEST(refused([](RunTable& t) { t.runs_per_lane = {4, 0}; }));
  BOOST_TEST(refused([](RunTable& t) { t.runs_per_lane = {0xFFFF'FFFF, 5}; }));
}

BOOST_AUTO_TEST_CASE(counts_are_checked) {
  BOOST_TEST(refused([](RunTable& t) { t.count[0] = 0; }));
  BOOST_TEST(refused([](RunTable& t) { t.count = {0, 10, 9, 1}; }));
  BOOST_TEST(refused([](RunTable& t) { t.count[0] = 5; }));
  BOOST_TEST(refused([](RunTable& t) { t.count[0] = 3; }));
  BOOST_TEST(refused([](RunTable& t) { t.count[0] = 0xFFFF'FFFF; }));
  // The sum would be 10 again in 32 bits.
  BOOST_TEST(refused([](RunTable& t) {
    t.count[0] = 0xFFFF'FFFF;
    t.count[1] = 11;
  }));
}

BOOST_AUTO_TEST_CASE(strides_that_overlap_their_own_segments_are_refused) {
  for (const std::int64_t stride : {0, 1, -1, 63, -63}) {
    BOOST_TEST((one_run(10'000, stride, 2) == Errc::kBadRunTable));
    BOOST_TEST(!one_run(10'000, stride, 1).has_value());  // of one address it means nothing
  }
  for (const std::int64_t stride : {64, -64}) {
    BOOST_TEST(!one_run(10'000, stride, 3).has_value());
  }
}

BOOST_AUTO_TEST_CASE(addresses_past_either_end_are_refused) {
  BOOST_TEST(!one_run(kTop - 64, 0, 1).has_value());
  BOOST_TEST((one_run(kTop - 63, 0, 1) == Errc::kBadRunTable));
  BOOST_TEST((one_run(kTop, 0, 1) == Errc::kBadRunTable));
  BOOST_TEST(!one_run(kTop - 128, 64, 2).has_value());
  BOOST_TEST((one_run(kTop - 127, 64, 2) == Errc::kBadRunTable));
  BOOST_TEST((one_run(kTop - 64, 64, 2) == Errc::kBadRunTable));  // the second one's start wraps
  BOOST_TEST(!one_run(64, -64, 2).has_value());
  BOOST_TEST((one_run(63, -64, 2) == Errc::kBadRunTable));
  BOOST_TEST((one_run(0, -64, 2) == Errc::kBadRunTable));
}

BOOST_AUTO_TEST_CASE(extents_that_64_bits_do_not_hold_are_refused) {
  BOOST_TEST((one_run(1000, kHighest, 4) == Errc::kBadRunTable));
  BOOST_TEST((one_run(1000, 1LL << 60, 0x1000'0001) == Errc::kBadRunTable));  // wraps to 2^60
  BOOST_TEST((one_run(1ULL << 63, kLowest, 3) == Errc::kBadRunTable));
  BOOST_TEST((one_run((1ULL << 63) - 1, kLowest, 2) == Errc::kBadRunTable));
  BOOST_TEST(!one_run(1ULL << 63, kLowest, 2).has_value());  // 2^63 and 0
}

BOOST_AUTO_TEST_CASE(what_exceeds_a_limit_is_too_large) {
  RunLimits limits;
  limits.max_runs = 3;
  BOOST_TEST((outcome(good(), limits) == Errc::kTooLarge));
  limits.max_runs = 4;
  BOOST_TEST(!outcome(good(), limits).has_value());
  limits.max_total_bytes = 10 * 2 * kBytes - 1;
  BOOST_TEST((outcome(good(), limits) == Errc::kTooLarge));
  limits.max_total_bytes = 10 * 2 * kBytes;
  BOOST_TEST(!outcome(good(), limits).has_value());
  // 2^32 blocks of 2^47 bytes.
  const auto huge = uniform_layout(kMaxSlots, kMaxSegmentBytes, kMaxSegmentBytes);
  const auto valid = validate(good(), *huge, 0xFFFF'FFFF, RunLimits{});
  BOOST_TEST((valid.error().code() == Errc::kTooLarge));
}

BOOST_AUTO_TEST_CASE(no_blocks_are_the_callers_mistake) {
  BOOST_TEST((outcome(good(), {}, 0) == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::testing
