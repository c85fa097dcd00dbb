#include "engine/verbs/queue_pair.h"

#include <arpa/inet.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "engine/base/check.h"
#include "engine/verbs/queue_pair_attributes.h"
#include "engine/verbs/verbs_api.h"
#include "engine/verbs/verbs_error.h"

namespace corail {

Result<std::unique_ptr<QueuePair>> QueuePair::make(std::shared_ptr<const ProtectionDomain> pd,
                                                   CompletionQueue& completions,
                                                   const PathTuning& tuning, std::uint8_t port,
                                                   QueueSizes sizes, PeerMay peer_may) {
  const Device& device = pd->device();
  ibv_qp_init_attr attributes;
  std::memset(&attributes, 0, sizeof attributes);
  attributes.send_cq = completions.handle();
  attributes.recv_cq = completions.handle();
  attributes.qp_type = IBV_QPT_RC;
  attributes.cap.max_send_wr = sizes.requests;
  attributes.cap.max_send_sge = sizes.segments;
  // Some drivers refuse a queue of none.
  attributes.cap.max_recv_wr = peer_may == PeerMay::kWrite ? sizes.receives : 1;
  attributes.cap.max_recv_sge = 1;
  ibv_qp* const qp = device.api().create_qp(pd->handle(), &attributes);
  if (qp == nullptr) return verbs_error(Stage::kConnect, "create_qp", device.name(), errno);
  std::unique_ptr<QueuePair> pair(new QueuePair(std::move(pd), tuning, qp, qp->qp_num));
  auto ready = pair->take(to_init(tuning, port, peer_may), "modify_qp to INIT");
  if (!ready.ok()) return std::move(ready).error();
  return pair;
}

QueuePair::~QueuePair() {
  // Whoever has posted has destroyed it already, and looked at how that went.
  [[maybe_unused]] const auto destroyed = destroy();
}

Result<void> QueuePair::take(QueuePairStep step, std::string_view name) {
  const Device& device = pd_->device();
  const int error = device.api().modify_qp(qp_, &step.attributes, step.mask);
  if (error != 0) return verbs_error(Stage::kConnect, name, device.name(), error);
  return ok_result();
}

Result<void> QueuePair::answer(const QueuePairPath& path) {
  return take(to_ready_to_receive(tuning_, path), "modify_qp to RTR");
}

Result<void> QueuePair::send(const QueuePairPath& path) {
  return take(to_ready_to_send(tuning_, path), "modify_qp to RTS");
}

Result<void> QueuePair::fail() { return take(to_error(), "modify_qp to ERR"); }

std::size_t QueuePair::post(std::span<const ReadWork> reads, Error& why) noexcept {
  CORAIL_CHECK(reads.size() <= kChain, "a chain of READs has a bound");
  std::array<ibv_send_wr, kChain> chain;
  std::array<std::array<ibv_sge, kWishedSegments>, kChain> pieces;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const ReadWork& read = reads[i];
    CORAIL_CHECK(read.pieces.size() <= kWishedSegments, "a READ has a bounded number of pieces");
    for (std::size_t k = 0; k < read.pieces.size(); ++k) {
      pieces[i][k].addr = read.pieces[k].address;
      pieces[i][k].length = read.pieces[k].length;
      pieces[i][k].lkey = read.pieces[k].key;
    }
    ibv_send_wr& work = chain[i];
    std::memset(&work, 0, sizeof work);
    work.wr_id = read.request;
    work.next = i + 1 < reads.size() ? &chain[i + 1] : nullptr;
    work.sg_list = pieces[i].data();
    work.num_sge = static_cast<int>(read.pieces.size());
    work.opcode = IBV_WR_RDMA_READ;
    work.send_flags = read.signalled ? unsigned{IBV_SEND_SIGNALED} : 0U;
    work.wr.rdma.remote_addr = read.remote_address;
    work.wr.rdma.rkey = read.remote_key;
  }
  ibv_send_wr* refused = nullptr;
  const Device& device = pd_->device();
  const int error = device.api().post_send(qp_, chain.data(), &refused);
  if (error == 0) return reads.size();
  why = verbs_error(Stage::kSubmit, "post_send", device.name(), error);
  // A device that does not say which one it refused has taken none that it will tell about.
  if (refused == nullptr) return 0;
  return static_cast<std::size_t>(refused - chain.data());
}

Result<void> QueuePair::write(const WriteWork& write) noexcept {
  ibv_sge piece{};
  piece.addr = write.piece.address;
  piece.length = write.piece.length;
  piece.lkey = write.piece.key;
  ibv_send_wr work;
  std::memset(&work, 0, sizeof work);
  work.wr_id = write.request;
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_WRITE;
  if (write.immediate) {
    work.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    work.imm_data = htonl(*write.immediate);
  }
  work.send_flags = write.signalled ? unsigned{IBV_SEND_SIGNALED} : 0U;
  work.wr.rdma.remote_addr = write.remote_address;
  work.wr.rdma.rkey = write.remote_key;
  ibv_send_wr* refused = nullptr;
  const Device& device = pd_->device();
  const int error = device.api().post_send(qp_, &work, &refused);
  if (error != 0) return verbs_error(Stage::kServe, "post_send", device.name(), error);
  return ok_result();
}

Result<void> QueuePair::receive(std::uint64_t request) noexcept {
  ibv_recv_wr work;
  std::memset(&work, 0, sizeof work);
  work.wr_id = request;
  ibv_recv_wr* refused = nullptr;
  const Device& device = pd_->device();
  const int error = device.api().post_recv(qp_, &work, &refused);
  if (error != 0) return verbs_error(Stage::kSubmit, "post_recv", device.name(), error);
  return ok_result();
}

Result<void> QueuePair::destroy() {
  if (qp_ == nullptr) return ok_result();
  const Device& device = pd_->device();
  const int error = device.api().destroy_qp(qp_);
  if (error != 0) return verbs_error(Stage::kClose, "destroy_qp", device.name(), error);
  qp_ = nullptr;
  return ok_result();
}

}  // namespace corail
