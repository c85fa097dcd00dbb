// The functions of a scripted machine's table.
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "test/verbs/scripted_verbs.h"

namespace corail::test {
namespace {

template <typename Object, typename Base>
void erase_object(std::list<std::unique_ptr<Object>>& objects, Base* which) {
  objects.remove_if([which](const auto& object) {
    return static_cast<void*>(object.get()) == static_cast<void*>(which);
  });
}

}  // namespace

/// The functions of the table. Members, so that they see the machine's insides.
struct ScriptedCalls {
  static ScriptedVerbs& machine() { return ScriptedVerbs::current(); }

  static ibv_device** get_device_list(int* count) {
    auto& m = machine();
    m.device_list_.clear();
    for (auto& device : m.devices_) m.device_list_.push_back(&device.base);
    m.device_list_.push_back(nullptr);
    *count = static_cast<int>(m.devices_.size());
    return m.device_list_.data();
  }
  static void free_device_list(ibv_device**) {}
  static const char* get_device_name(ibv_device* device) {
    return whole<ScriptedVerbs::FakeDevice>(device).name.c_str();
  }
  static ibv_context* open_device(ibv_device* device) {
    auto& m = machine();
    if (m.scripted_error("open_device") != 0) return nullptr;
    auto context = std::make_unique<ScriptedVerbs::FakeContext>();
    context->base.device = device;
    context->base.async_fd = ::eventfd(0, EFD_SEMAPHORE);
    m.contexts_.push_back(std::move(context));
    return &m.contexts_.back()->base;
  }
  static int close_device(ibv_context* context) {
    auto& m = machine();
    const auto uses = [context](const auto& object) { return object->context == context; };
    if (std::any_of(m.pds_.begin(), m.pds_.end(), uses)) m.breach("a device closed before its PD");
    auto& fake = whole<ScriptedVerbs::FakeContext>(context);
    if (fake.unacknowledged > 0) m.breach("a device closed before its events were acknowledged");
    ::close(context->async_fd);
    erase_object(m.contexts_, context);
    return 0;
  }
  static int query_device(ibv_context* context, ibv_device_attr* attributes) {
    *attributes = whole<ScriptedVerbs::FakeDevice>(context->device).attributes;
    return machine().scripted_error("query_device");
  }
  static int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) {
    *attributes = whole<ScriptedVerbs::FakeDevice>(context->device).ports[port - 1U].attributes;
    return machine().scripted_error("query_port");
  }
  static std::ptrdiff_t query_gid_table(ibv_context* context, ibv_gid_entry* entries,
                                        std::size_t most) {
    if (const int error = machine().scripted_error("query_gid_table")) return -error;
    std::size_t count = 0;
    for (const auto& port : whole<ScriptedVerbs::FakeDevice>(context->device).ports) {
      for (const auto& gid : port.gids) {
        if (count < most) entries[count++] = gid;
      }
    }
    return static_cast<std::ptrdiff_t>(count);
  }
  static int get_async_event(ibv_context* context, ibv_async_event* event) {
    if (machine().counted_error("get_async_event") != 0) return -1;
    auto& fake = whole<ScriptedVerbs::FakeContext>(context);
    std::uint64_t one = 0;
    if (::read(context->async_fd, &one, sizeof one) != sizeof one) return -1;
    *event = fake.events.front();
    fake.events.pop_front();
    ++fake.unacknowledged;
    // Acknowledging names the event only.
    machine().events_taken_.push_back(&fake);
    return 0;
  }
  static void ack_async_event(ibv_async_event*) {
    auto& taken = machine().events_taken_;
    if (taken.empty()) {
      machine().breach("an event was acknowledged twice");
      return;
    }
    --taken.front()->unacknowledged;
    taken.pop_front();
  }
  static ibv_pd* alloc_pd(ibv_context* context) {
    auto& m = machine();
    if (m.scripted_error("alloc_pd") != 0) return nullptr;
    auto pd = std::make_unique<ibv_pd>();
    pd->context = context;
    m.pds_.push_back(std::move(pd));
    return m.pds_.back().get();
  }
  static int dealloc_pd(ibv_pd* pd) {
    auto& m = machine();
    const auto uses = [pd](const auto& object) { return object->base.pd == pd; };
    if (std::any_of(m.regions_.begin(), m.regions_.end(), uses)) m.breach("a PD before its key");
    if (std::any_of(m.pairs_.begin(), m.pairs_.end(), uses)) m.breach("a PD before its pair");
    erase_object(m.pds_, pd);
    return 0;
  }
  static ibv_mr* reg_mr_iova(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                             unsigned access) {
    auto& m = machine();
    if (m.scripted_error("reg_mr") != 0) return nullptr;
    auto region = std::make_unique<ScriptedVerbs::FakeRegion>();
    region->base.context = pd->context;
    region->base.pd = pd;
    region->base.addr = address;
    region->base.length = length;
    region->base.lkey = m.next_key_++;
    region->base.rkey = m.next_key_++;
    region->iova = iova;
    region->access = access;
    m.trace.push_back("registered " + std::to_string(region->base.lkey));
    m.regions_.push_back(std::move(region));
    return &m.regions_.back()->base;
  }
  static int dereg_mr(ibv_mr* mr) {
    auto& m = machine();
    m.check_unused(*mr);
    m.trace.push_back("deregistered " + std::to_string(mr->lkey));
    erase_object(m.regions_, mr);
    return 0;
  }
  static ibv_comp_channel* create_comp_channel(ibv_context* context) {
    auto& m = machine();
    if (m.scripted_error("create_comp_channel") != 0) return nullptr;
    auto channel = std::make_unique<ScriptedVerbs::FakeChannel>();
    channel->base.context = context;
    channel->base.fd = ::eventfd(0, EFD_SEMAPHORE);
    m.channels_.push_back(std::move(channel));
    return &m.channels_.back()->base;
  }
  static int destroy_comp_channel(ibv_comp_channel* channel) {
    auto& m = machine();
    const auto uses = [channel](const auto& queue) { return queue->base.channel == channel; };
    if (std::any_of(m.queues_.begin(), m.queues_.end(), uses)) m.breach("a channel before its CQ");
    ::close(channel->fd);
    erase_object(m.channels_, channel);
    return 0;
  }
  static ibv_cq* create_cq(ibv_context* context, int entries, ibv_comp_channel* channel) {
    auto& m = machine();
    if (m.scripted_error("create_cq") != 0) return nullptr;
    auto queue = std::make_unique<ScriptedVerbs::FakeQueue>();
    queue->base.context = context;
    queue->base.channel = channel;
    queue->capacity = static_cast<std::size_t>(entries);
    m.queues_.push_back(std::move(queue));
    whole<ScriptedVerbs::FakeChannel>(channel).cq = &m.queues_.back()->base;
    return &m.queues_.back()->base;
  }
  static int destroy_cq(ibv_cq* cq) {
    auto& m = machine();
    const auto uses = [cq](const auto& pair) { return pair->base.send_cq == cq; };
    if (std::any_of(m.pairs_.begin(), m.pairs_.end(), uses)) m.breach("a CQ before its pair");
    if (whole<ScriptedVerbs::FakeQueue>(cq).unacknowledged > 0) {
      m.breach("destroy_cq would wait for ever for its events");
    }
    erase_object(m.queues_, cq);
    return 0;
  }
  static int req_notify_cq(ibv_cq* cq) {
    whole<ScriptedVerbs::FakeQueue>(cq).armed = true;
    return machine().counted_error("req_notify_cq");
  }
  static int get_cq_event(ibv_comp_channel* channel, ibv_cq** cq) {
    std::uint64_t one = 0;
    if (::read(channel->fd, &one, sizeof one) != sizeof one) return -1;
    *cq = whole<ScriptedVerbs::FakeChannel>(channel).cq;
    ++whole<ScriptedVerbs::FakeQueue>(*cq).unacknowledged;
    return 0;
  }
  static void ack_cq_events(ibv_cq* cq, unsigned count) {
    whole<ScriptedVerbs::FakeQueue>(cq).unacknowledged -= count;
  }
  static int poll_cq(ibv_cq* cq, int most, ibv_wc* completions) {
    if (machine().counted_error("poll_cq") != 0) return -1;
    auto& ready = whole<ScriptedVerbs::FakeQueue>(cq).ready;
    int count = 0;
    for (; count < most && !ready.empty(); ++count) {
      completions[count] = ready.front();
      ready.pop_front();
    }
    return count;
  }
  static ibv_qp* create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
    auto& m = machine();
    if (m.counted_error("create_qp") != 0) return nullptr;
    auto pair = std::make_unique<ScriptedVerbs::FakePair>();
    pair->base.context = pd->context;
    pair->base.pd = pd;
    pair->base.send_cq = attributes->send_cq;
    pair->base.recv_cq = attributes->recv_cq;
    pair->base.qp_num = m.next_pair_++;
    pair->base.state = IBV_QPS_RESET;
    pair->made = *attributes;
    m.pairs_.push_back(std::move(pair));
    return &m.pairs_.back()->base;
  }
  static int modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
    auto& m = machine();
    auto& pair = whole<ScriptedVerbs::FakePair>(qp);
    const std::string call = "modify_qp:" + std::to_string(attributes->qp_state);
    ++m.calls[call];
    if (const int error = m.scripted_error(call)) return error;
    if (attributes->qp_state == IBV_QPS_ERR) {
      m.to_error(pair);
      return 0;
    }
    // The only way up is one step at a time.
    if (attributes->qp_state != qp->state + 1) return EINVAL;
    qp->state = attributes->qp_state;
    ScriptedVerbs::take(pair.attributes, *attributes, mask);
    return 0;
  }
  static int destroy_qp(ibv_qp* qp) {
    auto& m = machine();
    if (const int error = m.counted_error("destroy_qp")) return error;
    m.trace.push_back("destroyed " + std::to_string(qp->qp_num));
    erase_object(m.pairs_, qp);
    return 0;
  }
  static int post_send(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad) {
    auto& m = machine();
    auto& pair = whole<ScriptedVerbs::FakePair>(qp);
    ++m.calls["post_send"];
    for (ibv_send_wr* work = first; work != nullptr; work = work->next) {
      const int error = m.take_request(pair, *work);
      if (error == 0) continue;
      *bad = work;
      return error;
    }
    if (qp->state == IBV_QPS_ERR && !m.hold_flushes) m.flush(pair);
    while (m.immediate && m.run_one(pair)) continue;
    return 0;
  }
  static int post_recv(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad) {
    auto& m = machine();
    auto& pair = whole<ScriptedVerbs::FakePair>(qp);
    *bad = first;
    if (const int error = m.counted_error("post_recv")) return error;
    if (pair.receives.size() >= pair.made.cap.max_recv_wr) return ENOMEM;
    pair.receives.push_back(first->wr_id);
    if (qp->state == IBV_QPS_ERR && !m.hold_flushes) m.flush(pair);
    return 0;
  }
};

namespace {

const VerbsApi kScripted = {
    .get_device_list = &ScriptedCalls::get_device_list,
    .free_device_list = &ScriptedCalls::free_device_list,
    .get_device_name = &ScriptedCalls::get_device_name,
    .open_device = &ScriptedCalls::open_device,
    .close_device = &ScriptedCalls::close_device,
    .query_device = &ScriptedCalls::query_device,
    .query_port = &ScriptedCalls::query_port,
    .query_gid_table = &ScriptedCalls::query_gid_table,
    .get_async_event = &ScriptedCalls::get_async_event,
    .ack_async_event = &ScriptedCalls::ack_async_event,
    .alloc_pd = &ScriptedCalls::alloc_pd,
    .dealloc_pd = &ScriptedCalls::dealloc_pd,
    .reg_mr_iova = &ScriptedCalls::reg_mr_iova,
    .dereg_mr = &ScriptedCalls::dereg_mr,
    .create_comp_channel = &ScriptedCalls::create_comp_channel,
    .destroy_comp_channel = &ScriptedCalls::destroy_comp_channel,
    .create_cq = &ScriptedCalls::create_cq,
    .destroy_cq = &ScriptedCalls::destroy_cq,
    .req_notify_cq = &ScriptedCalls::req_notify_cq,
    .get_cq_event = &ScriptedCalls::get_cq_event,
    .ack_cq_events = &ScriptedCalls::ack_cq_events,
    .poll_cq = &ScriptedCalls::poll_cq,
    .create_qp = &ScriptedCalls::create_qp,
    .modify_qp = &ScriptedCalls::modify_qp,
    .destroy_qp = &ScriptedCalls::destroy_qp,
    .post_send = &ScriptedCalls::post_send,
    .post_recv = &ScriptedCalls::post_recv,
};

}  // namespace

const VerbsApi& ScriptedVerbs::api() const noexcept { return kScripted; }

}  // namespace corail::test
