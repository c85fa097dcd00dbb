#include "engine/rail/mock/mock_holder.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/this_coro.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/shielded.h"

namespace corail {

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

MockHolder::~MockHolder() {
  CORAIL_CHECK(pushing_.empty(), "a door that pushes was destroyed without an awaited close()");
  shut();
}

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
  channels_.push_back(
      std::make_shared<MockChannel>(found->second.session, ++names_, *found->second.gate));
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
  co_await shielded(pushes_ended(session));
}

Task<void> MockHolder::close() {
  shut();
  co_await shielded(pushes_ended(std::nullopt));
}

Task<Result<void>> MockHolder::push(SessionId session, PushOrder order, PinnedBytes bytes,
                                    std::function<bool()> cancelled) {
  if (order.length == 0 || order.length != bytes.bytes.size()) {
    co_return Error(
        Errc::kRefused, Stage::kServe,
        fmt::format("an order of {} bytes served with {}", order.length, bytes.bytes.size()));
  }
  const auto channel = find(session, order.channel);
  if (!channel) co_return channel.error();
  if (cancelled()) {
    co_return Error(Errc::kCancelled, Stage::kServe, "the order was cancelled");
  }
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  const auto push = std::make_shared<MockPush>(executor, std::move(cancelled));
  const auto offered = (*channel)->offer(order.number, std::move(bytes), push);
  if (!offered) co_return offered.error();
  ++pushing_[session];
  co_await shielded(push->ended.wait());
  const auto counted = pushing_.find(session);
  if (--counted->second == 0) pushing_.erase(counted);
  for (Event* const waiting : waiting_) waiting->notify();
  co_return std::move(*push->result);
}

Result<std::shared_ptr<MockChannel>> MockHolder::find(SessionId session, std::uint64_t channel) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(channels_.begin(), channels_.end(),
                                  [&](const auto& entry) { return entry->name() == channel; });
  if (found != channels_.end() && (*found)->session() == session) return *found;
  // Of those that are gone nobody remembers whose they were; a path that fails is nobody's breach.
  if (found == channels_.end() && channel > 0 && channel <= names_) {
    return Error(Errc::kConnectionLost, Stage::kServe, "the channel of the order was lost");
  }
  return Error(Errc::kRefused, Stage::kServe,
               "an order for a channel that this session does not have");
}

Task<void> MockHolder::pushes_ended(std::optional<SessionId> session) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  Event changed(executor);
  waiting_.push_back(&changed);
  const auto any = [this, session] {
    return session ? pushing_.contains(*session) : !pushing_.empty();
  };
  while (any()) co_await changed.wait();
  std::erase(waiting_, &changed);
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
