// What moves between the queue pairs of a scripted machine.
#include <arpa/inet.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "test/verbs/scripted_verbs.h"

namespace corail::test {

int ScriptedVerbs::take_request(FakePair& pair, const ibv_send_wr& work) {
  if (const int error = scripted_error("post_send")) return error;
  if (pair.posted.size() >= pair.made.cap.max_send_wr) return ENOMEM;
  if (pair.base.state != IBV_QPS_RTS && pair.base.state != IBV_QPS_ERR) return EINVAL;
  Posted posted;
  posted.work = work;
  posted.pieces.assign(work.sg_list, work.sg_list + work.num_sge);
  pair.posted.push_back(std::move(posted));
  return 0;
}

void ScriptedVerbs::check_unused(const ibv_mr& mr) {
  for (const auto& pair : pairs_) {
    for (const Posted& posted : pair->posted) {
      const bool uses = std::any_of(posted.pieces.begin(), posted.pieces.end(),
                                    [&mr](const ibv_sge& piece) { return piece.lkey == mr.lkey; });
      if (uses) breach("a key went before the request that uses it");
    }
  }
}

void ScriptedVerbs::complete(FakePair& pair, const Posted& posted, ibv_wc_status status) {
  const bool asked = (posted.work.send_flags & IBV_SEND_SIGNALED) != 0;
  if (status == IBV_WC_SUCCESS && !asked) return;
  ibv_wc completion;
  std::memset(&completion, 0, sizeof completion);
  completion.wr_id = posted.work.wr_id;
  completion.status = status;
  completion.qp_num = pair.base.qp_num;
  ready(pair.base.send_cq, completion);
}

void ScriptedVerbs::ready(ibv_cq* cq, const ibv_wc& completion) {
  auto& queue = whole<FakeQueue>(cq);
  if (queue.ready.size() >= queue.capacity) breach("the completion queue overflowed");
  queue.ready.push_back(completion);
  if (!std::exchange(queue.armed, false)) return;
  const std::uint64_t one = 1;
  if (::write(queue.base.channel->fd, &one, sizeof one) != sizeof one) breach("an event was lost");
}

ibv_wc_status ScriptedVerbs::copy(FakePair& target, const Posted& posted) {
  std::uint64_t length = 0;
  for (const auto& piece : posted.pieces) length += piece.length;
  FakeRegion* const from = region(posted.work.wr.rdma.rkey);
  const std::uint64_t address = posted.work.wr.rdma.remote_addr;
  const bool in_range = from != nullptr && address >= from->iova && length <= from->base.length &&
                        address - from->iova <= from->base.length - length;
  const bool allowed = from != nullptr && from->base.pd == target.base.pd &&
                       (from->access & IBV_ACCESS_REMOTE_READ) != 0 &&
                       (target.attributes.qp_access_flags & IBV_ACCESS_REMOTE_READ) != 0;
  if (!in_range || !allowed) return IBV_WC_REM_ACCESS_ERR;
  const auto* source = static_cast<const std::byte*>(from->base.addr) + (address - from->iova);
  for (const auto& piece : posted.pieces) {
    std::byte* const to = local(piece, IBV_ACCESS_LOCAL_WRITE);
    if (to == nullptr) return IBV_WC_LOC_PROT_ERR;
    std::memcpy(to, source, piece.length);
    source += piece.length;
  }
  return IBV_WC_SUCCESS;
}

/// The memory of a piece that a request names; null where the device would refuse it.
std::byte* ScriptedVerbs::local(const ibv_sge& piece, unsigned needed) {
  FakeRegion* const own = region(piece.lkey);
  const bool fits = own != nullptr && (own->access & needed) == needed && piece.addr >= own->iova &&
                    piece.length <= own->base.length &&
                    piece.addr - own->iova <= own->base.length - piece.length;
  return fits ? static_cast<std::byte*>(own->base.addr) + (piece.addr - own->iova) : nullptr;
}

/// A WRITE of ours to `target`, whose RECV tells of it where it says something.
ibv_wc_status ScriptedVerbs::write(FakePair& target, const Posted& posted) {
  const ibv_sge& piece = posted.pieces.at(0);
  const std::byte* const source = local(piece, 0);
  if (source == nullptr) return IBV_WC_LOC_PROT_ERR;
  FakeRegion* const to = region(posted.work.wr.rdma.rkey);
  const std::uint64_t address = posted.work.wr.rdma.remote_addr;
  const bool in_range = to != nullptr && to->base.rkey == posted.work.wr.rdma.rkey &&
                        address >= to->iova && piece.length <= to->base.length &&
                        address - to->iova <= to->base.length - piece.length;
  const bool allowed = to != nullptr && to->base.pd == target.base.pd &&
                       (to->access & IBV_ACCESS_REMOTE_WRITE) != 0 &&
                       (target.attributes.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) != 0;
  if (!in_range || !allowed) return IBV_WC_REM_ACCESS_ERR;
  std::memcpy(static_cast<std::byte*>(to->base.addr) + (address - to->iova), source, piece.length);
  if (posted.work.opcode != IBV_WR_RDMA_WRITE_WITH_IMM) return IBV_WC_SUCCESS;
  return take_receive(target, posted.work.imm_data) ? IBV_WC_SUCCESS : IBV_WC_RNR_RETRY_EXC_ERR;
}

/// `said` as it is on the wire.
bool ScriptedVerbs::take_receive(FakePair& target, std::uint32_t said) {
  if (target.receives.empty()) {
    breach("the RECVs ran out");
    return false;
  }
  ibv_wc completion;
  std::memset(&completion, 0, sizeof completion);
  completion.wr_id = target.receives.front();
  completion.status = IBV_WC_SUCCESS;
  completion.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  completion.wc_flags = IBV_WC_WITH_IMM;
  completion.imm_data = said;
  completion.qp_num = target.base.qp_num;
  target.receives.pop_front();
  ready(target.base.recv_cq, completion);
  return true;
}

void ScriptedVerbs::say(FakePair& pair, std::uint32_t said) { take_receive(pair, htonl(said)); }

std::size_t ScriptedVerbs::when(const std::string& what) const {
  return static_cast<std::size_t>(std::find(trace.begin(), trace.end(), what) - trace.begin());
}

ibv_wc_status ScriptedVerbs::execute(FakePair& pair_of_ours, const Posted& posted) {
  FakePair* const target = pair(pair_of_ours.attributes.dest_qp_num);
  const bool answers = target != nullptr &&
                       (target->base.state == IBV_QPS_RTR || target->base.state == IBV_QPS_RTS) &&
                       target->attributes.dest_qp_num == pair_of_ours.base.qp_num &&
                       target->attributes.rq_psn == pair_of_ours.attributes.sq_psn;
  if (!answers) return IBV_WC_RETRY_EXC_ERR;
  const bool reads = posted.work.opcode == IBV_WR_RDMA_READ;
  const ibv_wc_status status = reads ? copy(*target, posted) : write(*target, posted);
  if (status == IBV_WC_REM_ACCESS_ERR) to_error(*target);
  return status;
}

bool ScriptedVerbs::run_one(FakePair& pair) {
  if (pair.base.state != IBV_QPS_RTS || pair.posted.empty()) return false;
  const Posted posted = std::move(pair.posted.front());
  pair.posted.pop_front();
  const ibv_wc_status status = execute(pair, posted);
  complete(pair, posted, status);
  if (status != IBV_WC_SUCCESS) to_error(pair);
  return true;
}

std::size_t ScriptedVerbs::run_all() {
  std::size_t count = 0;
  for (FakePair* const pair : pairs()) {
    while (run_one(*pair)) ++count;
  }
  return count;
}

void ScriptedVerbs::fail_one(FakePair& pair, ibv_wc_status status) {
  const Posted posted = std::move(pair.posted.front());
  pair.posted.pop_front();
  complete(pair, posted, status);
  to_error(pair);
}

void ScriptedVerbs::to_error(FakePair& pair) {
  pair.base.state = IBV_QPS_ERR;
  trace.push_back("ERR " + std::to_string(pair.base.qp_num));
  pair.flushing = hold_flushes;
  if (!hold_flushes) flush(pair);
}

void ScriptedVerbs::flush(FakePair& pair) {
  pair.flushing = false;
  while (!pair.posted.empty()) {
    const Posted posted = std::move(pair.posted.front());
    pair.posted.pop_front();
    if (copies_late) execute(pair, posted);
    complete(pair, posted, IBV_WC_WR_FLUSH_ERR);
  }
  if (!pair.receives.empty()) trace.push_back("flushed RECV " + std::to_string(pair.base.qp_num));
  for (; !pair.receives.empty(); pair.receives.pop_front()) {
    ibv_wc completion;
    std::memset(&completion, 0, sizeof completion);
    completion.wr_id = pair.receives.front();
    completion.status = IBV_WC_WR_FLUSH_ERR;
    completion.qp_num = pair.base.qp_num;
    ready(pair.base.recv_cq, completion);
  }
}

}  // namespace corail::test
