#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <numeric>

#include "test/support/read_rig.h"
#include "test/support/repetitions.h"

namespace corail::test {
namespace {

namespace data = boost::unit_test::data;

std::vector<RailPlan> random_rails(std::size_t count, bool reports_landing, Random& random) {
  std::vector<RailPlan> rails(count);
  for (RailPlan& rail : rails) {
    rail.options.reports_landing = reports_landing;
    rail.options.link.bytes_per_second = 50'000'000 + random.below(200'000'000);
    rail.options.link.latency = std::chrono::microseconds(random.below(500));
    rail.options.link.jitter = std::chrono::microseconds(random.below(200));
    rail.window.bytes = (1 + random.below(4)) * 256 * kKiB;
  }
  return rails;
}

HeldShape random_shape(Random& random) {
  HeldShape shape;
  shape.blocks = static_cast<std::uint32_t>(1 + random.below(40));
  shape.lanes = static_cast<std::uint32_t>(1 + random.below(6));
  shape.lane_bytes = static_cast<std::uint32_t>(1 + random.below(100'000));
  shape.regions = static_cast<std::uint32_t>(1 + random.below(3));
  shape.gap_bytes = random.below(2) == 0 ? 0 : static_cast<std::uint32_t>(random.below(5000));
  return shape;
}

BOOST_AUTO_TEST_SUITE(byte_exact)

BOOST_DATA_TEST_CASE(over_any_number_of_rails,
                     data::make({1, 2, 3, 4, 8}) ^ data::make({10, 20, 30, 40, 80}), count, seed) {
  for (int round = 0; round < repetitions(12); ++round) {
    SeededRandom random(static_cast<std::uint64_t>(seed + round));
    const bool reports_landing = round % 2 == 0;
    auto rails = random_rails(static_cast<std::size_t>(count), reports_landing, random);
    ReadRig rig(random_shape(random), std::move(rails), random.next());
    const auto read = rig.make(rig.request());
    const auto result = rig.finish(*read);
    BOOST_TEST_CONTEXT("round " << round) {
      BOOST_TEST_REQUIRE(result.ok(), text_of(result));
      BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
      const ReadReport& report = read->report();
      BOOST_TEST(report.needed_bytes == rig.held.total_bytes());
      BOOST_TEST(report.read_bytes == report.needed_bytes);
      BOOST_TEST(report.verified_bytes == report.needed_bytes);
      // The machine's time, of which hashing takes some although time is virtual here.
      BOOST_TEST((report.verify_cpu > Duration(0)));
      BOOST_TEST(report.rails.size() == static_cast<std::size_t>(count));
      const auto add = [](std::uint64_t sum, const RailReport& rail) { return sum + rail.bytes; };
      BOOST_TEST(std::accumulate(report.rails.begin(), report.rails.end(), std::uint64_t{0}, add) ==
                 report.needed_bytes);
      BOOST_TEST(rig.owner.confirms == 1U);
      BOOST_TEST(rig.owner.releases == 0U);
    }
  }
}

BOOST_AUTO_TEST_CASE(many_reads_share_the_rails) {
  SeededRandom random(7);
  auto rails = random_rails(3, true, random);
  ReadRig rig(HeldShape{}, std::move(rails), 7);
  std::vector<std::unique_ptr<RigRead>> reads;
  std::vector<VirtualWorld::Outcome<Result<void>>> outcomes;
  for (int i = 0; i < 8; ++i) {
    reads.push_back(rig.make(rig.request()));
    outcomes.push_back(rig.world.start(reads.back()->run()));
  }
  rig.world.run_until_idle();
  for (std::size_t i = 0; i < reads.size(); ++i) {
    BOOST_TEST_REQUIRE(outcomes[i]->has_value());
    BOOST_TEST((**outcomes[i]).ok());
    BOOST_TEST(rig.complaint(*reads[i], **outcomes[i]).value_or("") == "");
  }
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_run) {
  std::vector<std::vector<std::uint64_t>> runs;
  std::vector<TimePoint> ends;
  for (int i = 0; i < 2; ++i) {
    SeededRandom random(99);
    auto rails = random_rails(4, true, random);
    HeldShape shape;
    shape.blocks = 60;
    ReadRig rig(shape, std::move(rails), 99);
    const auto read = rig.make(rig.request());
    BOOST_TEST(rig.finish(*read).ok());
    ends.push_back(read->ended());
    runs.emplace_back();
    for (const RailReport& rail : read->report().rails) runs.back().push_back(rail.bytes);
  }
  BOOST_TEST(runs[0] == runs[1], boost::test_tools::per_element());
  BOOST_TEST((ends[0] == ends[1]));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
