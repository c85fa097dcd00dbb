#include "engine/verbs/path_choice.h"

#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <string>
#include <vector>

#include "engine/base/units.h"

namespace corail {
namespace {

constexpr Gid kIpv4 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 77, 0, 1};
constexpr Gid kLinkLocal = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
constexpr Gid kRoutable = {0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

GidEntry entry(std::uint32_t index, GidType type, const Gid& gid) {
  GidEntry made;
  made.index = index;
  made.type = type;
  made.gid = gid;
  return made;
}

std::uint32_t chosen(const std::vector<GidEntry>& gids) {
  const auto gid = choose_gid(gids, LinkLayer::kEthernet, std::nullopt, "d:1");
  return gid.ok() ? gid->index : 99;
}

BOOST_AUTO_TEST_SUITE(path_choices)

BOOST_AUTO_TEST_CASE(roce_v2_with_an_ipv4_address_comes_first) {
  const GidEntry v1 = entry(0, GidType::kRoceV1, kIpv4);
  const GidEntry local = entry(1, GidType::kRoceV2, kLinkLocal);
  const GidEntry routable = entry(2, GidType::kRoceV2, kRoutable);
  const GidEntry ipv4 = entry(3, GidType::kRoceV2, kIpv4);
  BOOST_TEST(chosen({v1, local, routable, ipv4}) == 3);
  BOOST_TEST(chosen({ipv4, routable, local, v1}) == 3);
  BOOST_TEST(chosen({v1, local, routable}) == 2);
  BOOST_TEST(chosen({v1, local}) == 1);
}

BOOST_AUTO_TEST_CASE(roce_v1_is_taken_by_index_only) {
  const std::vector<GidEntry> gids = {entry(4, GidType::kRoceV1, kIpv4)};
  const auto unasked = choose_gid(gids, LinkLayer::kEthernet, std::nullopt, "mlx5_0:1");
  BOOST_TEST_REQUIRE(!unasked.ok());
  BOOST_TEST(unasked.error().detail().find("4 (RoCE v1)") != std::string::npos);
  const auto asked = choose_gid(gids, LinkLayer::kEthernet, std::uint8_t{4}, "mlx5_0:1");
  BOOST_TEST_REQUIRE(asked.ok());
  BOOST_TEST(asked->index == 4);
}

BOOST_AUTO_TEST_CASE(an_index_of_the_users_is_taken_or_refused) {
  const std::vector<GidEntry> gids = {entry(0, GidType::kRoceV2, kLinkLocal),
                                      entry(1, GidType::kRoceV2, kIpv4)};
  const auto worse = choose_gid(gids, LinkLayer::kEthernet, std::uint8_t{0}, "d:1");
  BOOST_TEST_REQUIRE(worse.ok());
  BOOST_TEST(worse->index == 0);
  BOOST_TEST(!choose_gid(gids, LinkLayer::kEthernet, std::uint8_t{7}, "d:1").ok());
}

BOOST_AUTO_TEST_CASE(infiniband_takes_its_first) {
  const std::vector<GidEntry> gids = {entry(0, GidType::kInfiniBand, kLinkLocal),
                                      entry(1, GidType::kInfiniBand, kRoutable)};
  const auto gid = choose_gid(gids, LinkLayer::kInfiniBand, std::nullopt, "d:1");
  BOOST_TEST_REQUIRE(gid.ok());
  BOOST_TEST(gid->index == 0);
  BOOST_TEST(!choose_gid({}, LinkLayer::kInfiniBand, std::nullopt, "d:1").ok());
}

BOOST_AUTO_TEST_CASE(sizes_never_exceed_the_device) {
  DeviceLimits small;
  small.max_queue_requests = 40;
  small.max_segments = 1;
  small.max_reads_sent = 4;
  small.max_reads_answered = 1;
  const QueueSizes cut = clamp_queue(small);
  BOOST_TEST(cut.requests == 40);
  BOOST_TEST(cut.segments == 1);
  BOOST_TEST(cut.reads_sent == 4);
  BOOST_TEST(cut.reads_answered == 1);
  DeviceLimits large;
  large.max_queue_requests = large.max_segments = 1'000'000;
  large.max_reads_sent = large.max_reads_answered = 1000;
  const QueueSizes wished = clamp_queue(large);
  BOOST_TEST(wished.requests == kWishedRequests);
  BOOST_TEST(wished.segments == kWishedSegments);
  BOOST_TEST(wished.reads_sent == kWishedReads);
}

BOOST_AUTO_TEST_CASE(reads_under_way_are_what_both_ends_can) {
  BOOST_TEST(reads_under_way(16, 4) == 4);
  BOOST_TEST(reads_under_way(2, 16) == 2);
  BOOST_TEST(reads_under_way(0, 16) == 1);
}

BOOST_AUTO_TEST_CASE(slices_are_whole_pages_of_the_devices_message) {
  PortFacts port;
  port.max_message_bytes = 2 * kGiB;
  BOOST_TEST(max_slice_bytes(port) == 32 * kMiB);
  port.max_message_bytes = 8 * kMiB + 100;
  BOOST_TEST(max_slice_bytes(port) == 8 * kMiB);
}

BOOST_AUTO_TEST_CASE(the_mtu_is_the_lesser_one_and_a_real_one) {
  BOOST_TEST(path_mtu(4096, 1024) == 1024);
  BOOST_TEST(path_mtu(2048, 4096) == 2048);
  BOOST_TEST(path_mtu(4096, 1500) == 0);
  BOOST_TEST(path_mtu(0, 4096) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
