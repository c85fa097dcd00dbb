#include "engine/rail/mock/mock_channel.h"

#include <fmt/core.h>

#include <asio/post.hpp>
#include <cstring>
#include <utility>

#include "engine/base/units.h"

namespace corail {

namespace {

Error channel_closed() {
  return Error(Errc::kConnectionLost, "the holder has closed the channel; check that it runs");
}

}  // namespace

Result<void> MockChannel::admit(std::uint64_t key, ReadContext context, const Slice& slice) {
  const std::lock_guard lock(mutex_);
  if (gate_ == nullptr) return channel_closed();
  auto bytes = gate_->admit(session_, context, slice.region, slice.remote_offset, slice.length);
  if (!bytes) return std::move(bytes).error();
  if (bytes->bytes.size() != slice.length) {
    return Error(Errc::kRefused, fmt::format("the holder's gate admitted {} bytes of {}",
                                             bytes->bytes.size(), slice.length));
  }
  served_[key] = std::move(*bytes);
  return ok_result();
}

bool MockChannel::copy_part(std::span<const std::byte> bytes, std::uint64_t offset,
                            std::uint64_t length, std::byte* to) {
  const auto end = checked_add(offset, length);
  if (!end || *end > bytes.size()) return false;
  std::memcpy(to, bytes.data() + offset, length);
  return true;
}

bool MockChannel::copy(std::uint64_t key, std::uint64_t offset, std::uint64_t length,
                       std::byte* to) {
  const std::lock_guard lock(mutex_);
  const auto found = served_.find(key);
  return found != served_.end() && copy_part(found->second.bytes, offset, length, to);
}

void MockChannel::end(std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  served_.erase(key);
}

Result<void> MockChannel::offer(std::uint64_t number, PinnedBytes bytes,
                                std::shared_ptr<MockPush> push) {
  const std::lock_guard lock(mutex_);
  if (gate_ == nullptr) return channel_closed().at(Stage::kServe);
  if (!order_numbers_.take(number)) {
    return Error(Errc::kRefused, Stage::kServe,
                 fmt::format("an order under number {}, which was used before", number));
  }
  Pushed pushed;
  pushed.bytes = std::move(bytes);
  pushed.push = std::move(push);
  pushed_.emplace(number, std::move(pushed));
  if (on_offered_) on_offered_(number);
  return ok_result();
}

bool MockChannel::copy_pushed(std::uint64_t number, std::uint64_t offset, std::uint64_t length,
                              std::byte* to) {
  const std::lock_guard lock(mutex_);
  const auto found = pushed_.find(number);
  if (found == pushed_.end()) return false;
  const std::shared_ptr<MockPush>& push = found->second.push;
  asio::post(push->executor, [self = shared_from_this(), push, number] {
    if (push->result || !push->cancelled()) return;
    self->end_push(number, Error(Errc::kCancelled, Stage::kServe, "the order was cancelled"));
  });
  return copy_part(found->second.bytes.bytes, offset, length, to);
}

void MockChannel::end_push(std::uint64_t number, Result<void> result) {
  const std::lock_guard lock(mutex_);
  const auto node = pushed_.extract(number);
  if (node.empty()) return;
  node.mapped().bytes = PinnedBytes();
  tell(node.mapped().push, std::move(result));
}

void MockChannel::tell(const std::shared_ptr<MockPush>& push, Result<void> result) {
  asio::post(push->executor, [push, result = std::move(result)] {
    push->result = result;
    push->ended.notify();
  });
}

void MockChannel::shut() {
  const std::lock_guard lock(mutex_);
  gate_ = nullptr;
  served_.clear();
  for (auto& [number, pushed] : pushed_) {
    pushed.bytes = PinnedBytes();
    tell(pushed.push, channel_closed().at(Stage::kServe));
  }
  pushed_.clear();
  if (on_shut_) std::exchange(on_shut_, nullptr)();
}

void MockChannel::tell_requester(std::function<void()> shut,
                                 std::function<void(std::uint64_t)> offered) {
  const std::lock_guard lock(mutex_);
  on_shut_ = std::move(shut);
  on_offered_ = std::move(offered);
  if (gate_ == nullptr) std::exchange(on_shut_, nullptr)();
}

void MockChannel::forget_requester() {
  // The lock is held while they run, so that afterwards they do not.
  const std::lock_guard lock(mutex_);
  on_shut_ = nullptr;
  on_offered_ = nullptr;
}

bool MockChannel::is_shut() const {
  const std::lock_guard lock(mutex_);
  return gate_ == nullptr;
}

}  // namespace corail
