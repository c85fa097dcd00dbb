#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace corail {

/// Every call of libibverbs that this folder makes, as a table, so that tests script devices,
/// completions and failures. Each member means and returns what the function of its name does
/// there: some return null and set errno, some return an error number, get_*_event return -1 and
/// set errno, poll_cq returns a negative number and sets nothing.
///
/// A table outlives everything that was made with it. The system's may be used by any thread.
struct VerbsApi {
  ibv_device** (*get_device_list)(int* count);
  void (*free_device_list)(ibv_device** list);
  const char* (*get_device_name)(ibv_device* device);
  ibv_context* (*open_device)(ibv_device* device);
  int (*close_device)(ibv_context* context);
  int (*query_device)(ibv_context* context, ibv_device_attr* attributes);
  int (*query_port)(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes);
  /// How many entries were written, or a negative error number.
  std::ptrdiff_t (*query_gid_table)(ibv_context* context, ibv_gid_entry* entries, std::size_t most);
  int (*get_async_event)(ibv_context* context, ibv_async_event* event);
  void (*ack_async_event)(ibv_async_event* event);

  ibv_pd* (*alloc_pd)(ibv_context* context);
  int (*dealloc_pd)(ibv_pd* pd);
  ibv_mr* (*reg_mr_iova)(ibv_pd* pd, void* address, std::size_t length, std::uint64_t iova,
                         unsigned access);
  int (*dereg_mr)(ibv_mr* mr);

  ibv_comp_channel* (*create_comp_channel)(ibv_context* context);
  int (*destroy_comp_channel)(ibv_comp_channel* channel);
  ibv_cq* (*create_cq)(ibv_context* context, int entries, ibv_comp_channel* channel);
  int (*destroy_cq)(ibv_cq* cq);
  int (*req_notify_cq)(ibv_cq* cq);
  int (*get_cq_event)(ibv_comp_channel* channel, ibv_cq** cq);
  void (*ack_cq_events)(ibv_cq* cq, unsigned count);
  int (*poll_cq)(ibv_cq* cq, int most, ibv_wc* completions);

  ibv_qp* (*create_qp)(ibv_pd* pd, ibv_qp_init_attr* attributes);
  int (*modify_qp)(ibv_qp* qp, ibv_qp_attr* attributes, int mask);
  int (*destroy_qp)(ibv_qp* qp);
  int (*post_send)(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad);
  int (*post_recv)(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad);
};

/// The real one.
const VerbsApi& system_verbs() noexcept;

}  // namespace corail
