#include "engine/verbs/queue_pair_attributes.h"

#include <algorithm>

namespace corail {
namespace {

/// Routers that a packet may pass.
constexpr std::uint8_t kHopLimit = 64;

ibv_mtu mtu_of(std::uint32_t bytes) noexcept {
  switch (bytes) {
    case 4096:
      return IBV_MTU_4096;
    case 2048:
      return IBV_MTU_2048;
    case 1024:
      return IBV_MTU_1024;
    case 512:
      return IBV_MTU_512;
    default:
      return IBV_MTU_256;
  }
}

ibv_ah_attr address_of(const PathTuning& tuning, const QueuePairPath& path) noexcept {
  ibv_ah_attr address{};
  address.sl = tuning.service_level;
  address.port_num = path.port;
  address.dlid = path.peer_lid;
  // Ethernet has no other addresses; within one InfiniBand subnet the LID is enough.
  if (path.link == LinkLayer::kInfiniBand) return address;
  address.is_global = 1;
  std::copy(path.peer_gid.begin(), path.peer_gid.end(), address.grh.dgid.raw);
  address.grh.sgid_index = static_cast<std::uint8_t>(path.gid_index);
  address.grh.hop_limit = kHopLimit;
  address.grh.traffic_class = tuning.traffic_class;
  return address;
}

}  // namespace

QueuePairStep to_init(const PathTuning& tuning, std::uint8_t port, PeerMay peer_may) noexcept {
  QueuePairStep step;
  step.attributes.qp_state = IBV_QPS_INIT;
  step.attributes.pkey_index = tuning.pkey_index;
  step.attributes.port_num = port;
  switch (peer_may) {
    case PeerMay::kNothing:
      break;
    case PeerMay::kRead:
      step.attributes.qp_access_flags = IBV_ACCESS_REMOTE_READ;
      break;
    case PeerMay::kWrite:
      step.attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
      break;
  }
  step.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  return step;
}

QueuePairStep to_ready_to_receive(const PathTuning& tuning, const QueuePairPath& path) noexcept {
  QueuePairStep step;
  step.attributes.qp_state = IBV_QPS_RTR;
  step.attributes.path_mtu = mtu_of(path.mtu_bytes);
  step.attributes.dest_qp_num = path.peer_number;
  step.attributes.rq_psn = path.peer_psn;
  step.attributes.max_dest_rd_atomic = path.reads_answered;
  step.attributes.min_rnr_timer = tuning.rnr_timer;
  step.attributes.ah_attr = address_of(tuning, path);
  step.mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  return step;
}

QueuePairStep to_ready_to_send(const PathTuning& tuning, const QueuePairPath& path) noexcept {
  QueuePairStep step;
  step.attributes.qp_state = IBV_QPS_RTS;
  step.attributes.sq_psn = path.own_psn;
  step.attributes.timeout = tuning.timeout;
  step.attributes.retry_cnt = tuning.retries;
  step.attributes.rnr_retry = tuning.rnr_retries;
  step.attributes.max_rd_atomic = path.reads_sent;
  step.mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
              IBV_QP_MAX_QP_RD_ATOMIC;
  return step;
}

QueuePairStep to_error() noexcept {
  QueuePairStep step;
  step.attributes.qp_state = IBV_QPS_ERR;
  step.mask = IBV_QP_STATE;
  return step;
}

}  // namespace corail
