#include "engine/verbs/verbs_api.h"

namespace corail {
namespace {

// Many names of libibverbs are macros or inline functions, which have no address.
const VerbsApi kSystem = {
    .get_device_list = [](int* count) { return ::ibv_get_device_list(count); },
    .free_device_list = [](ibv_device** list) { ::ibv_free_device_list(list); },
    .get_device_name = [](ibv_device* device) { return ::ibv_get_device_name(device); },
    .open_device = [](ibv_device* device) { return ::ibv_open_device(device); },
    .close_device = [](ibv_context* context) { return ::ibv_close_device(context); },
    .query_device =
        [](ibv_context* context, ibv_device_attr* attributes) {
          return ::ibv_query_device(context, attributes);
        },
    .query_port =
        [](ibv_context* context, std::uint8_t port, ibv_port_attr* attributes) {
          return ibv_query_port(context, port, attributes);
        },
    .query_gid_table =
        [](ibv_context* context, ibv_gid_entry* entries, std::size_t most) {
          return std::ptrdiff_t{::ibv_query_gid_table(context, entries, most, 0)};
        },
    .get_async_event = [](ibv_context* context,
                          ibv_async_event* event) { return ::ibv_get_async_event(context, event); },
    .ack_async_event = [](ibv_async_event* event) { ::ibv_ack_async_event(event); },
    .alloc_pd = [](ibv_context* context) { return ::ibv_alloc_pd(context); },
    .dealloc_pd = [](ibv_pd* pd) { return ::ibv_dealloc_pd(pd); },
    .reg_mr_iova =
        [](ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova, unsigned access) {
          // The second version leaves out optional flags that the kernel does not know.
          return ::ibv_reg_mr_iova2(pd, address, length, iova, access);
        },
    .dereg_mr = [](ibv_mr* mr) { return ::ibv_dereg_mr(mr); },
    .create_comp_channel = [](ibv_context* context) { return ::ibv_create_comp_channel(context); },
    .destroy_comp_channel =
        [](ibv_comp_channel* channel) { return ::ibv_destroy_comp_channel(channel); },
    .create_cq =
        [](ibv_context* context, int entries, ibv_comp_channel* channel) {
          return ::ibv_create_cq(context, entries, nullptr, channel, 0);
        },
    .destroy_cq = [](ibv_cq* cq) { return ::ibv_destroy_cq(cq); },
    .req_notify_cq = [](ibv_cq* cq) { return ::ibv_req_notify_cq(cq, 0); },
    .get_cq_event =
        [](ibv_comp_channel* channel, ibv_cq** cq) {
          void* context = nullptr;
          return ::ibv_get_cq_event(channel, cq, &context);
        },
    .ack_cq_events = [](ibv_cq* cq, unsigned count) { ::ibv_ack_cq_events(cq, count); },
    .poll_cq = [](ibv_cq* cq, int most,
                  ibv_wc* completions) { return ::ibv_poll_cq(cq, most, completions); },
    .create_qp = [](ibv_pd* pd,
                    ibv_qp_init_attr* attributes) { return ::ibv_create_qp(pd, attributes); },
    .modify_qp = [](ibv_qp* qp, ibv_qp_attr* attributes,
                    int mask) { return ::ibv_modify_qp(qp, attributes, mask); },
    .destroy_qp = [](ibv_qp* qp) { return ::ibv_destroy_qp(qp); },
    .post_send = [](ibv_qp* qp, ibv_send_wr* first,
                    ibv_send_wr** bad) { return ::ibv_post_send(qp, first, bad); },
    .post_recv = [](ibv_qp* qp, ibv_recv_wr* first,
                    ibv_recv_wr** bad) { return ::ibv_post_recv(qp, first, bad); },
};

}  // namespace

const VerbsApi& system_verbs() noexcept { return kSystem; }

}  // namespace corail
