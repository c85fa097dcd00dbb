#include "test/verbs/scripted_verbs.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/base/check.h"

namespace corail::test {
namespace {

ScriptedVerbs* the_machine = nullptr;

}  // namespace

ScriptedVerbs::ScriptedVerbs() {
  CORAIL_CHECK(the_machine == nullptr, "one scripted machine at a time");
  the_machine = this;
}

ScriptedVerbs::~ScriptedVerbs() {
  for (const auto& channel : channels_) ::close(channel->base.fd);
  for (const auto& context : contexts_) ::close(context->base.async_fd);
  the_machine = nullptr;
}

ScriptedVerbs& ScriptedVerbs::current() {
  CORAIL_CHECK(the_machine != nullptr, "a table of functions outlived its machine");
  return *the_machine;
}

ScriptedVerbs::FakeDevice& ScriptedVerbs::add_device(std::string name, std::uint8_t number) {
  FakeDevice& device = devices_.emplace_back();
  device.name = std::move(name);
  device.attributes.max_mr_size = ~std::uint64_t{0};
  device.attributes.max_qp_wr = 1024;
  device.attributes.max_cqe = 32767;
  device.attributes.max_sge = device.attributes.max_sge_rd = 32;
  device.attributes.max_qp_rd_atom = device.attributes.max_qp_init_rd_atom = 128;
  device.attributes.phys_port_cnt = 1;
  Port& port = device.ports.emplace_back();
  port.attributes.state = IBV_PORT_ACTIVE;
  port.attributes.link_layer = IBV_LINK_LAYER_ETHERNET;
  port.attributes.active_mtu = port.attributes.max_mtu = IBV_MTU_4096;
  port.attributes.max_msg_sz = 1U << 31;
  for (std::uint32_t index = 0; index < 2; ++index) {
    ibv_gid_entry& gid = port.gids.emplace_back();
    std::memset(&gid, 0, sizeof gid);
    gid.gid_index = index;
    gid.port_num = 1;
    gid.gid_type = IBV_GID_TYPE_ROCE_V2;
    gid.gid.raw[15] = number;
  }
  port.gids[0].gid.raw[0] = 0xFE;
  port.gids[0].gid.raw[1] = 0x80;
  port.gids[1].gid.raw[10] = port.gids[1].gid.raw[11] = 0xFF;
  port.gids[1].gid.raw[12] = 10;
  port.gids[1].gid.raw[13] = 77;
  return device;
}

ScriptedVerbs::Port& ScriptedVerbs::port_of(const std::string& name) {
  const auto found = std::find_if(devices_.begin(), devices_.end(),
                                  [&name](const auto& device) { return device.name == name; });
  CORAIL_CHECK(found != devices_.end(), "there is no such device");
  return found->ports.front();
}

std::size_t ScriptedVerbs::alive() const noexcept {
  return contexts_.size() + pds_.size() + regions_.size() + channels_.size() + queues_.size() +
         pairs_.size();
}

std::vector<ScriptedVerbs::FakePair*> ScriptedVerbs::pairs() {
  std::vector<FakePair*> all;
  for (const auto& pair : pairs_) all.push_back(pair.get());
  return all;
}

ScriptedVerbs::FakePair* ScriptedVerbs::pair(std::uint32_t number) {
  for (const auto& pair : pairs_) {
    if (pair->base.qp_num == number) return pair.get();
  }
  return nullptr;
}

ScriptedVerbs::FakeRegion* ScriptedVerbs::region(std::uint32_t key) {
  for (const auto& region : regions_) {
    if (region->base.lkey == key || region->base.rkey == key) return region.get();
  }
  return nullptr;
}

void ScriptedVerbs::take(ibv_qp_attr& into, const ibv_qp_attr& from, int mask) {
  const auto says = [mask](int bit) { return (mask & bit) != 0; };
  if (says(IBV_QP_ACCESS_FLAGS)) into.qp_access_flags = from.qp_access_flags;
  if (says(IBV_QP_DEST_QPN)) into.dest_qp_num = from.dest_qp_num;
  if (says(IBV_QP_RQ_PSN)) into.rq_psn = from.rq_psn;
  if (says(IBV_QP_SQ_PSN)) into.sq_psn = from.sq_psn;
  if (says(IBV_QP_PKEY_INDEX)) into.pkey_index = from.pkey_index;
  if (says(IBV_QP_AV)) into.ah_attr = from.ah_attr;
  if (says(IBV_QP_TIMEOUT)) into.timeout = from.timeout;
  if (says(IBV_QP_RETRY_CNT)) into.retry_cnt = from.retry_cnt;
  if (says(IBV_QP_RNR_RETRY)) into.rnr_retry = from.rnr_retry;
}

int ScriptedVerbs::scripted_error(const std::string& call) {
  const auto found = errors.find(call);
  if (found == errors.end()) return 0;
  errno = found->second;
  return found->second;
}

int ScriptedVerbs::counted_error(const std::string& call) {
  ++calls[call];
  return scripted_error(call);
}

void ScriptedVerbs::tell(const std::string& device, ibv_event_type type, int port) {
  for (const auto& context : contexts_) {
    if (whole<FakeDevice>(context->base.device).name != device) continue;
    ibv_async_event& event = context->events.emplace_back();
    std::memset(&event, 0, sizeof event);
    event.event_type = type;
    event.element.port_num = port;
    const std::uint64_t one = 1;
    if (::write(context->base.async_fd, &one, sizeof one) != sizeof one) breach("no event told");
  }
}

void ScriptedVerbs::invent(FakePair& pair, std::uint64_t request) {
  Posted posted;
  posted.work.wr_id = request;
  posted.work.send_flags = IBV_SEND_SIGNALED;
  complete(pair, posted, IBV_WC_SUCCESS);
}

}  // namespace corail::test
