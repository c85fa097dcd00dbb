#include "engine/verbs/queue_pair_attributes.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace corail {
namespace {

QueuePairPath sample_path() {
  QueuePairPath path;
  path.port = 2;
  path.mtu_bytes = 1024;
  path.gid_index = 3;
  path.peer_gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 2};
  path.peer_lid = 9;
  path.peer_number = 0x123456;
  path.peer_psn = 0xABCDEF;
  path.own_psn = 0x001122;
  path.reads_sent = 7;
  path.reads_answered = 5;
  return path;
}

PathTuning sample_tuning() {
  PathTuning tuning;
  tuning.pkey_index = 4;
  tuning.service_level = 3;
  tuning.traffic_class = 106;
  tuning.timeout = 19;
  tuning.retries = 6;
  tuning.rnr_retries = 5;
  tuning.rnr_timer = 11;
  return tuning;
}

BOOST_AUTO_TEST_SUITE(queue_pair_attributes)

BOOST_AUTO_TEST_CASE(a_requesters_queue_pair_serves_nobody) {
  const QueuePairStep serving = to_init(sample_tuning(), 2, PeerMay::kRead);
  BOOST_TEST(serving.attributes.qp_state == IBV_QPS_INIT);
  BOOST_TEST(serving.attributes.port_num == 2);
  BOOST_TEST(serving.attributes.pkey_index == 4);
  BOOST_TEST(serving.attributes.qp_access_flags == unsigned{IBV_ACCESS_REMOTE_READ});
  BOOST_TEST(to_init(sample_tuning(), 2, PeerMay::kNothing).attributes.qp_access_flags == 0U);
  BOOST_TEST(to_init(sample_tuning(), 2, PeerMay::kWrite).attributes.qp_access_flags ==
             unsigned{IBV_ACCESS_REMOTE_WRITE});
  BOOST_TEST(serving.mask ==
             (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
}

BOOST_AUTO_TEST_CASE(ready_to_receive_names_the_peer) {
  const QueuePairPath path = sample_path();
  const QueuePairStep step = to_ready_to_receive(sample_tuning(), path);
  BOOST_TEST(step.attributes.qp_state == IBV_QPS_RTR);
  BOOST_TEST(step.attributes.path_mtu == IBV_MTU_1024);
  BOOST_TEST(step.attributes.dest_qp_num == 0x123456U);
  BOOST_TEST(step.attributes.rq_psn == 0xABCDEFU);
  BOOST_TEST(step.attributes.max_dest_rd_atomic == 5);
  BOOST_TEST(step.attributes.min_rnr_timer == 11);
  const ibv_ah_attr& address = step.attributes.ah_attr;
  BOOST_TEST(address.is_global == 1);
  BOOST_TEST(address.port_num == 2);
  BOOST_TEST(address.sl == 3);
  BOOST_TEST(address.grh.sgid_index == 3);
  BOOST_TEST(address.grh.traffic_class == 106);
  BOOST_TEST(address.grh.hop_limit > 1);
  BOOST_TEST(std::equal(path.peer_gid.begin(), path.peer_gid.end(), address.grh.dgid.raw));
  BOOST_TEST(step.mask == (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                           IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
}

BOOST_AUTO_TEST_CASE(infiniband_goes_by_lid) {
  QueuePairPath path = sample_path();
  path.link = LinkLayer::kInfiniBand;
  const ibv_ah_attr address = to_ready_to_receive(sample_tuning(), path).attributes.ah_attr;
  BOOST_TEST(address.is_global == 0);
  BOOST_TEST(address.dlid == 9);
}

BOOST_AUTO_TEST_CASE(ready_to_send_says_how_long_to_insist) {
  const QueuePairStep step = to_ready_to_send(sample_tuning(), sample_path());
  BOOST_TEST(step.attributes.qp_state == IBV_QPS_RTS);
  BOOST_TEST(step.attributes.sq_psn == 0x001122U);
  BOOST_TEST(step.attributes.timeout == 19);
  BOOST_TEST(step.attributes.retry_cnt == 6);
  BOOST_TEST(step.attributes.rnr_retry == 5);
  BOOST_TEST(step.attributes.max_rd_atomic == 7);
  BOOST_TEST(step.mask == (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

BOOST_AUTO_TEST_CASE(what_has_no_bits_in_an_attribute_is_refused) {
  BOOST_TEST(check_tuning(PathTuning()).ok());
  BOOST_TEST(check_tuning(sample_tuning()).ok());
  const auto refused = [](auto change, const char* sentence) {
    PathTuning tuning;
    change(tuning);
    const auto checked = check_tuning(tuning);
    BOOST_TEST_REQUIRE(!checked.ok(), sentence);
    BOOST_TEST((checked.error().code() == Errc::kInvalidArgument));
    BOOST_TEST(checked.error().detail() == sentence);
  };
  refused([](PathTuning& t) { t.service_level = 16; },
          "service-level 16 is not possible, 0 to 15 are");
  refused([](PathTuning& t) { t.timeout = 32; }, "ack-timeout 32 is not possible, 1 to 31 are");
  refused([](PathTuning& t) { t.timeout = 0; }, "ack-timeout 0 is not possible, 1 to 31 are");
  refused([](PathTuning& t) { t.retries = 8; }, "retry-count 8 is not possible, 0 to 7 are");
  refused([](PathTuning& t) { t.rnr_retries = 8; }, "rnr-retry 8 is not possible, 0 to 7 are");
}

BOOST_AUTO_TEST_CASE(every_mtu_has_its_number) {
  for (const auto& [bytes, number] :
       {std::pair(256U, IBV_MTU_256), std::pair(512U, IBV_MTU_512), std::pair(1024U, IBV_MTU_1024),
        std::pair(2048U, IBV_MTU_2048), std::pair(4096U, IBV_MTU_4096)}) {
    QueuePairPath path = sample_path();
    path.mtu_bytes = bytes;
    BOOST_TEST(to_ready_to_receive(sample_tuning(), path).attributes.path_mtu == number);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
