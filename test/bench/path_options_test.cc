// Options of rails and of what they are made of.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "apps/p2p_bench/node_setup.h"
#include "apps/p2p_bench/stored_sets.h"
#include "engine/base/units.h"
#include "test/bench/parsed_options.h"

namespace corail::bench {
namespace {

BOOST_AUTO_TEST_SUITE(path_options)

BOOST_AUTO_TEST_CASE(verbs_rails_are_tuned_by_flags_and_variables) {
  const BenchOptions plain = accept({});
  BOOST_TEST((plain.path_tuning == PathTuning()));
  BOOST_TEST(!plain.gid_index.has_value());
  const Variable service_level("CORAIL_SERVICE_LEVEL", "3");
  const Variable ack_timeout("CORAIL_ACK_TIMEOUT", "20");
  const Variable gid("CORAIL_GID_INDEX", "5");
  const BenchOptions options =
      accept({"--traffic-class", "106", "--ack-timeout", "14", "--retry-count", "6", "--rnr-retry",
              "5", "--pkey-index", "4", "--spin-us", "70", "--max-region-bytes", "4MiB"});
  const PathTuning& tuning = options.path_tuning;
  BOOST_TEST(int{tuning.traffic_class} == 106);
  BOOST_TEST(int{tuning.service_level} == 3);
  BOOST_TEST(int{tuning.timeout} == 14);
  BOOST_TEST(int{tuning.retries} == 6);
  BOOST_TEST(int{tuning.rnr_retries} == 5);
  BOOST_TEST(tuning.pkey_index == 4);
  BOOST_TEST(int{options.gid_index.value()} == 5);
  BOOST_TEST(plain.spin_us == 20U);
  BOOST_TEST(options.spin_us == 70U);
  const NodeOptions node = node_options_for(options);
  BOOST_TEST((node.spin == std::chrono::microseconds(70)));
  BOOST_TEST((node.path_tuning == tuning));
  BOOST_TEST((node.gid_index == options.gid_index));
  const BenchOptions child = accept(holder_arguments(options));
  BOOST_TEST((child.path_tuning == tuning));
  BOOST_TEST((child.gid_index == options.gid_index));
  BOOST_TEST(child.spin_us == 70U);
  BOOST_TEST(node.max_region_bytes == 4 * kMiB);
  BOOST_TEST(child.max_region_bytes == 4 * kMiB);
  BOOST_TEST(mentions(refuse({"--max-region-bytes", "1KiB"}), "--max-region-bytes 1024"));
  BOOST_TEST(mentions(refuse({"--traffic-class", "256"}), "'256' is not a whole number from 0 to"));
  BOOST_TEST(mentions(refuse({"--service-level", "16"}), "from 0 to 15"));
  BOOST_TEST(mentions(refuse({"--ack-timeout", "0"}), "from 1 to 31"));
  BOOST_TEST(mentions(refuse({"--retry-count", "8"}), "from 0 to 7"));
  BOOST_TEST(mentions(refuse({"--rnr-retry", "8"}), "from 0 to 7"));
  BOOST_TEST(mentions(refuse({"--gid-index", "256"}), "from 0 to 255"));
  BOOST_TEST(mentions(refuse({"--spin-us", "1000001"}), "from 0 to 1000000"));
}

BOOST_AUTO_TEST_CASE(rails_can_be_listed_instead_of_used) {
  BOOST_TEST(!accept({}).list_rails);
  BOOST_TEST(accept({"--list-rails"}).list_rails);
}

BOOST_AUTO_TEST_CASE(short_regions_have_room_for_every_block) {
  Shape shape;
  shape.blocks = 128;
  const std::uint64_t part = block_bytes_by_part(shape).front();
  const std::uint64_t plain = store_options_for(shape, false).nodes.front().bytes;
  for (const std::uint64_t region : {part + 1, 2 * part - 1, 4 * kMiB, 64 * kMiB, kGiB}) {
    const std::uint64_t bytes = store_options_for(shape, false, region).nodes.front().bytes;
    // Whole parts of blocks in whole regions, and in what is left behind them.
    const std::uint64_t room = bytes / region * (region / part) + bytes % region / part;
    BOOST_TEST(room >= shape.blocks, "in regions of " << region << " bytes");
    BOOST_TEST(bytes >= plain);
    BOOST_TEST(bytes < 3 * plain);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
