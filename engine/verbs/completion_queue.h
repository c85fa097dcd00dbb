#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/result.h"
#include "engine/verbs/completion.h"
#include "engine/verbs/device.h"

struct ibv_comp_channel;
struct ibv_cq;

namespace corail {

/// A completion queue and the channel that tells of it. Owned by a port; the queue pairs that use
/// it go first. One thread at a time, the port's.
class CompletionQueue {
 public:
  /// Completions taken at a time, at most.
  static constexpr std::size_t kBatch = 16;

  /// `entries` is cut down to the device's limit; capacity() says what it became.
  static Result<std::unique_ptr<CompletionQueue>> make(std::shared_ptr<const Device> device,
                                                       std::uint32_t entries);
  ~CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;

  std::uint32_t capacity() const noexcept { return capacity_; }
  const Device& device() const noexcept { return *device_; }
  ibv_cq* handle() const noexcept { return cq_; }
  /// Becomes readable once an event is there; non-blocking, and ours.
  int descriptor() const noexcept;

  /// Takes at most kBatch completions. Fails where the device is broken.
  Result<std::size_t> poll(std::span<Completion, kBatch> completions) noexcept;

  /// The next completion makes an event. One that came before does not: poll once more.
  Result<void> arm() noexcept;

  /// Takes the events that are there. There may be none, and there may be events without
  /// completions.
  void take_events() noexcept;

 private:
  CompletionQueue(std::shared_ptr<const Device> device, ibv_comp_channel* channel)
      : device_(std::move(device)), channel_(channel) {}
  void acknowledge() noexcept;

  const std::shared_ptr<const Device> device_;
  ibv_comp_channel* const channel_;
  ibv_cq* cq_ = nullptr;
  std::uint32_t capacity_ = 0;
  unsigned unacknowledged_ = 0;  // events; destroying the queue waits for them for ever
};

}  // namespace corail
