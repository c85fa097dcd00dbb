#include "engine/rail/mock/mock_holder.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/units.h"

namespace corail {

Result<void> MockChannel::admit(std::uint64_t key, ReadContext context, const Slice& slice) {
  const std::lock_guard lock(mutex_);
  if (gate_ == nullptr) {
    return Error(Errc::kConnectionLost, "the holder has closed the channel; check that it runs");
  }
  auto bytes = gate_->admit(session_, context, slice.region, slice.remote_offset, slice.length);
  if (!bytes) return std::move(bytes).error();
  if (bytes->bytes.size() != slice.length) {
    return Error(Errc::kRefused, fmt::format("the holder's gate admitted {} bytes of {}",
                                             bytes->bytes.size(), slice.length));
  }
  served_[key] = std::move(*bytes);
  return ok_result();
}

bool MockChannel::copy(std::uint64_t key, std::uint64_t offset, std::uint64_t length,
                       std::byte* to) {
  const std::lock_guard lock(mutex_);
  const auto found = served_.find(key);
  if (found == served_.end()) return false;
  const std::span<const std::byte> bytes = found->second.bytes;
  const auto end = checked_add(offset, length);
  if (!end || *end > bytes.size()) return false;
  std::memcpy(to, bytes.data() + offset, length);
  return true;
}

void MockChannel::end(std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  served_.erase(key);
}

void MockChannel::shut() {
  const std::lock_guard lock(mutex_);
  gate_ = nullptr;
  served_.clear();
  if (on_shut_) std::exchange(on_shut_, nullptr)();
}

void MockChannel::when_shut(std::function<void()> shut) {
  const std::lock_guard lock(mutex_);
  on_shut_ = std::move(shut);
  if (gate_ == nullptr) std::exchange(on_shut_, nullptr)();
}

void MockChannel::forget_shut() {
  // The lock is held while it runs, so that afterwards it does not.
  const std::lock_guard lock(mutex_);
  on_shut_ = nullptr;
}

bool MockChannel::is_shut() const {
  const std::lock_guard lock(mutex_);
  return gate_ == nullptr;
}

Result<std::shared_ptr<MockChannel>> MockNet::connect(const RailEndpoint& endpoint) {
  const std::lock_guard lock(mutex_);
  const auto found = doors_.find(endpoint.address);
  if (found == doors_.end()) {
    return Error(Errc::kConnectFailed,
                 fmt::format("no mock holder listens at \"{}\"; check the address, and that both "
                             "ends are in one process",
                             endpoint.address));
  }
  return found->second->accept(endpoint);
}

MockHolder::MockHolder(MockNet& net, std::string address)
    : net_(net), address_(std::move(address)) {}

MockHolder::~MockHolder() { shut(); }

Result<void> MockHolder::open() {
  const std::lock_guard net_lock(net_.mutex_);
  const auto [entry, added] = net_.doors_.emplace(address_, this);
  if (!added && entry->second != this) {
    return Error(
        Errc::kInvalidArgument, Stage::kSetup,
        fmt::format("the mock address \"{}\" is taken; give each holder its own", address_));
  }
  const std::lock_guard lock(mutex_);
  open_ = true;
  return ok_result();
}

RailEndpoint MockHolder::admit_session(SessionId session, ChannelToken token, LeaseGate& gate) {
  const std::lock_guard lock(mutex_);
  Admitted admitted;
  admitted.session = session;
  admitted.gate = &gate;
  admitted_[token] = admitted;
  RailEndpoint endpoint;
  endpoint.transport = "mock";
  endpoint.address = address_;
  endpoint.token = token;
  return endpoint;
}

Result<std::shared_ptr<MockChannel>> MockHolder::accept(const RailEndpoint& endpoint) {
  const std::lock_guard lock(mutex_);
  const auto found = admitted_.find(endpoint.token);
  if (!open_ || found == admitted_.end()) {
    return Error(Errc::kConnectFailed,
                 fmt::format("the mock holder \"{}\" knows no session with this token; check that "
                             "the control connection is alive",
                             address_));
  }
  // Those that their transport has closed since: nobody says so here.
  std::erase_if(channels_, [](const auto& channel) { return channel->is_shut(); });
  channels_.push_back(std::make_shared<MockChannel>(found->second.session, *found->second.gate));
  return channels_.back();
}

void MockHolder::drop(SessionId session) {
  const std::lock_guard lock(mutex_);
  std::erase_if(admitted_, [&](const auto& entry) { return entry.second.session == session; });
  std::erase_if(channels_, [&](const std::shared_ptr<MockChannel>& channel) {
    if (channel->session() != session) return false;
    channel->shut();
    return true;
  });
}

Task<void> MockHolder::drop_session(SessionId session) {
  drop(session);
  co_return;
}

Task<void> MockHolder::close() {
  shut();
  co_return;
}

void MockHolder::shut() {
  {
    const std::lock_guard net_lock(net_.mutex_);
    const auto found = net_.doors_.find(address_);
    if (found != net_.doors_.end() && found->second == this) net_.doors_.erase(found);
  }
  const std::lock_guard lock(mutex_);
  open_ = false;
  admitted_.clear();
  for (const auto& channel : channels_) channel->shut();
  channels_.clear();
}

}  // namespace corail
