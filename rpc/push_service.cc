#include "rpc/push_service.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/exec/when_all.h"
#include "rpc/object_codec.h"
#include "rpc/push_order.h"

namespace corail {
namespace {

Error on_its_way(const std::string& why) {
  return Error(Errc::kDeadline, Stage::kServe, "what was sent may still be on its way: " + why);
}

/// What a door says no with, as the reader may be told. A channel that ended leaves open what is
/// still on its way, which is no clear no; errors of the transport do not travel, so it is told as
/// an answer that did not come in time, which the reader takes for "nobody knows" and fences (I1).
Error as_answer(const Error& error) {
  if (error.error_class() != ErrorClass::kTransport) return Error(error).at(Stage::kServe);
  return on_its_way(error.detail());
}

}  // namespace

class PushService::Serving {
 public:
  explicit Serving(PushService& service) : service_(service) { ++service_.serving_; }
  ~Serving() { --service_.serving_; }
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

 private:
  PushService& service_;
};

PushService::PushService(const asio::any_io_executor& executor, Clock& clock,
                         const ObjectServices& objects, RailHost& rails, SessionId session)
    : executor_(executor),
      clock_(clock),
      objects_(objects),
      rails_(rails),
      session_(session),
      staged_(executor, objects.staging == nullptr ? 0 : objects.staging->buffers_of_session(),
              kMaxOrdersKept),
      scope_(executor) {}

PushService::~PushService() {
  CORAIL_CHECK(orders_.empty(), "I6: orders end before their session's service does");
}

void PushService::open(ReadId read, std::shared_ptr<const StripingInfo> info, bool in_memory) {
  auto entry = std::make_shared<Read>(executor_);
  entry->info = std::move(info);
  entry->in_memory = in_memory;
  reads_[read] = std::move(entry);
}

void PushService::forget_lapsed() {
  std::vector<ReadId> lapsed;
  for (const auto& [read, entry] : reads_) {
    if (!objects_.gate.lease_of(session_, read)) lapsed.push_back(read);
  }
  for (const ReadId read : lapsed) forget(read);
}

/// Everything in the request is remote input (I5).
Result<std::shared_ptr<PushService::Order>> PushService::take(const ReadStripesRequest& request) {
  const auto refuse = [](Errc code, std::string why) {
    return Error(code, Stage::kServe, std::move(why));
  };
  if (serving_ >= kMaxOrdersOfSession || orders_.size() >= kMaxOrdersKept) {
    return refuse(Errc::kBusy,
                  fmt::format("{} orders of this session are under way, of which {} were given up",
                              orders_.size(), orders_.size() - serving_));
  }
  const PushOrder& wanted = request.order;
  const ReadId read = wanted.context.read;
  const auto lease = objects_.gate.lease_of(session_, read);
  if (!lease) return lease.error();
  const auto found = reads_.find(read);
  if (stopping_ || found == reads_.end() || found->second->stopped) {
    return refuse(Errc::kRefused, fmt::format("read {} takes no orders any more", read.value()));
  }
  const StripingInfo& info = *found->second->info;
  const ObjectDescriptor& object = info.object;
  const std::uint64_t end = wanted.source_offset + wanted.length;  // decoded without an overflow
  const bool inside = end <= object.size &&
                      wanted.source_offset / object.stripe_size == (end - 1) / object.stripe_size &&
                      object.chunks[wanted.source_offset / object.stripe_size].node == info.home;
  if (!inside) {
    return refuse(Errc::kRefused, fmt::format("{} bytes at {} are not of one stripe that this node "
                                              "has of '{}'",
                                              wanted.length, wanted.source_offset, object.key));
  }
  auto order = std::make_shared<Order>(executor_);
  order->request = request;
  order->read = found->second;
  order->lease = *lease;
  return order;
}

Task<Result<FrameBuffer>> PushService::serve(InboundCall& call, ReadStripesRequest request) {
  const auto taken = take(request);
  if (!taken) co_return taken.error();
  const std::shared_ptr<Order> order = *taken;
  const Serving serving(*this);
  orders_.insert(order.get());
  try {
    scope_.spawn(run(order));
  } catch (...) {
    finish(*order);
    throw;
  }
  // The order may not keep the connection from ending: it ends with the session's rails.
  call.on_cancel([order] {
    order->abandoned = true;
    order->ended.notify();
  });
  while (!order->outcome && !call.cancelled() && !stopping_ && order->may_write()) {
    co_await order->ended.wait();
  }
  call.on_cancel(nullptr);
  if (!order->outcome && order->at_door) co_return on_its_way("the session ends");
  if (!order->outcome) co_return order_given_up();
  if (!*order->outcome) co_return order->outcome->error();
  co_return encode_read_stripes_answer(**order->outcome);
}

Task<void> PushService::run(std::shared_ptr<Order> order) {
  auto outcome = co_await without_exceptions(push(order.get()));
  finish(*order);
  order->outcome = std::move(outcome);
  order->ended.notify();
}

void PushService::finish(Order& order) {
  // The door has let go of its pin (RailDoor::push), so the memory may be used again (I6).
  order.bytes = {};
  if (order.buffer) objects_.staging->give_back(std::exchange(order.buffer, {}));
  if (order.holds_share) staged_.release(1);
  orders_.erase(&order);
}

void PushService::stop_orders(const Read& read) {
  for (Order* const order : orders_) {
    if (order->read.get() == &read) order->ended.notify();
  }
}

Task<Result<PushReceipt>> PushService::push(Order* order) {
  auto fetched = co_await fetch(order);
  if (fetched && order->is_stopped()) fetched = order_given_up();
  if (!fetched) co_return std::move(fetched).error();
  const TimePoint begin = clock_.now();
  PushReceipt receipt;
  receipt.bytes = order->bytes.bytes.size();
  std::function<bool()> cancelled = [order] { return order->is_stopped(); };
  PinnedBytes bytes = std::exchange(order->bytes, {});
  // Nothing was awaited since it was asked whether the order still stands.
  const AtDoor at_door(*order);
  auto pushed = co_await rails_.push(session_, order->request.door, order->request.order,
                                     std::move(bytes), std::move(cancelled));
  if (!pushed) co_return as_answer(pushed.error());
  receipt.disk = order->disk;
  receipt.send = clock_.now() - begin;
  co_return receipt;
}

Task<Result<void>> PushService::quiesce(ReadId read, InboundCall& call) {
  const auto found = reads_.find(read);
  if (found == reads_.end()) co_return ok_result();
  const std::shared_ptr<Read> entry = found->second;
  entry->stopped = true;
  if (entry->waited_for) {
    co_return Error(Errc::kBusy, Stage::kServe, "the end of this read is waited for already");
  }
  entry->waited_for = true;
  call.on_cancel([entry] { entry->idle.notify(); });
  stop_orders(*entry);
  while (entry->at_door > 0 && !call.cancelled() && !stopping_) {
    co_await entry->idle.wait();
  }
  call.on_cancel(nullptr);
  entry->waited_for = false;
  if (entry->at_door > 0) co_return order_given_up();
  co_return ok_result();
}

void PushService::forget(ReadId read) {
  const auto found = reads_.find(read);
  if (found == reads_.end()) return;
  const std::shared_ptr<Read> entry = std::move(found->second);
  reads_.erase(found);
  entry->stopped = true;
  stop_orders(*entry);
}

void PushService::stop() {
  stopping_ = true;
  for (const auto& [read, entry] : reads_) {
    entry->stopped = true;
    entry->idle.notify();
  }
  for (Order* const order : orders_) {
    order->abandoned = true;
    order->ended.notify();
  }
}

Task<void> PushService::end() {
  CORAIL_CHECK(stopping_, "orders are stopped before they are waited for");
  co_await scope_.join();
}

}  // namespace corail
