#include "engine/verbs/completion_queue.h"

#include <arpa/inet.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "engine/verbs/verbs_api.h"
#include "engine/verbs/verbs_error.h"

namespace corail {
namespace {

/// Acknowledging takes a lock, so it is done for many events at once.
constexpr unsigned kMaxUnacknowledged = 64;

/// Of a failed request a device says nothing about what kind it was.
std::optional<std::uint32_t> immediate_of(const ibv_wc& taken) noexcept {
  const bool told = taken.status == IBV_WC_SUCCESS && taken.opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
                    (taken.wc_flags & IBV_WC_WITH_IMM) != 0;
  if (!told) return std::nullopt;
  return ntohl(taken.imm_data);
}

}  // namespace

Result<std::unique_ptr<CompletionQueue>> CompletionQueue::make(std::shared_ptr<const Device> device,
                                                               std::uint32_t entries) {
  const VerbsApi& api = device->api();
  ibv_comp_channel* const channel = api.create_comp_channel(device->handle());
  if (channel == nullptr) {
    return verbs_error(Stage::kSetup, "create_comp_channel", device->name(), errno);
  }
  const std::string name = device->name();
  const std::uint32_t most = device->limits().max_completions;
  std::unique_ptr<CompletionQueue> queue(new CompletionQueue(std::move(device), channel));
  const int flags = ::fcntl(channel->fd, F_GETFL);
  if (flags < 0 || ::fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    return verbs_error(Stage::kSetup, "fcntl", name, errno);
  }
  queue->capacity_ = std::min(entries, most);
  queue->cq_ = api.create_cq(queue->device_->handle(), static_cast<int>(queue->capacity_), channel);
  if (queue->cq_ == nullptr) return verbs_error(Stage::kSetup, "create_cq", name, errno);
  return queue;
}

CompletionQueue::~CompletionQueue() {
  if (cq_ != nullptr) {
    take_events();
    acknowledge();
    device_->api().destroy_cq(cq_);
  }
  device_->api().destroy_comp_channel(channel_);
}

int CompletionQueue::descriptor() const noexcept { return channel_->fd; }

Result<std::size_t> CompletionQueue::poll(std::span<Completion, kBatch> completions) noexcept {
  std::array<ibv_wc, kBatch> taken;
  const int count = device_->api().poll_cq(cq_, static_cast<int>(taken.size()), taken.data());
  if (count < 0) return verbs_error(Stage::kWait, "poll_cq", device_->name(), EIO);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    completions[i].request = taken[i].wr_id;
    completions[i].status = taken[i].status;
    completions[i].queue_pair = taken[i].qp_num;
    completions[i].vendor_error = taken[i].vendor_err;
    completions[i].immediate = immediate_of(taken[i]);
  }
  return static_cast<std::size_t>(count);
}

Result<void> CompletionQueue::arm() noexcept {
  const int error = device_->api().req_notify_cq(cq_);
  if (error != 0) return verbs_error(Stage::kWait, "req_notify_cq", device_->name(), error);
  return ok_result();
}

void CompletionQueue::take_events() noexcept {
  ibv_cq* told = nullptr;
  // The channel has this queue only, so whatever it tells is about it.
  while (device_->api().get_cq_event(channel_, &told) == 0) ++unacknowledged_;
  if (unacknowledged_ >= kMaxUnacknowledged) acknowledge();
}

void CompletionQueue::acknowledge() noexcept {
  if (unacknowledged_ > 0) device_->api().ack_cq_events(cq_, unacknowledged_);
  unacknowledged_ = 0;
}

}  // namespace corail
