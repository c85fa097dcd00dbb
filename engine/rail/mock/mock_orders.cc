// Pushed slices on the modelled rail: how they are ordered, and what the owner answers.

#include <fmt/core.h>

#include <utility>

#include "engine/rail/mock/mock_transport.h"

namespace corail {

void MockTransport::order(OpKey key, MockOp& op) {
  if (courier_ == nullptr) {
    agenda_.add(clock_.now(), MockEvent(MockEvent::Kind::kNoOrder, key));
    return;
  }
  op.order = ++orders_;
  ordered_.emplace(op.order, key);
  PushOrder order;
  order.context = op.context;
  order.number = op.order;
  order.channel = channel_->name();
  order.source_offset = op.slice.remote_offset;
  order.length = op.slice.length;
  courier_->order(order, [self = self_, number = op.order](Result<PushReceipt> receipt) {
    if (*self != nullptr) (*self)->answered(number, std::move(receipt));
  });
}

MockOp* MockTransport::find_ordered(std::uint64_t number) noexcept {
  const auto found = ordered_.find(number);
  return found == ordered_.end() ? nullptr : ops_.find(found->second);
}

void MockTransport::offered(std::uint64_t number) {
  MockOp* const op = find_ordered(number);
  if (op != nullptr) {
    admit(ordered_.find(number)->second, *op);
  } else {
    channel_->end_push(number, Error(Errc::kCancelled, Stage::kServe, "the slice has ended"));
  }
}

void MockTransport::answered(std::uint64_t number, Result<PushReceipt> receipt) {
  MockOp* const op = find_ordered(number);
  if (op == nullptr || op->fenced) return;  // the fence ends it
  const OpKey key = ordered_.find(number)->second;
  if (!receipt) {
    Error why = std::move(receipt).error();
    // Nobody knows what the owner does then. Packets of it that still come are stale.
    if (why.error_class() == ErrorClass::kTransport) {
      why = Error(Errc::kRailFailed, Stage::kWait,
                  "the order for a slice was not answered: " + why.detail());
    }
    finish(key, std::move(why).at(Stage::kServe));
  } else if (receipt->bytes != op->slice.length) {
    finish(key, Error(Errc::kProtocol, Stage::kWait,
                      fmt::format("the owner says that it has sent {} bytes where {} were ordered",
                                  receipt->bytes, op->slice.length)));
  } else {
    op->sink->on_receipt(op->slice, *receipt);
    completed(key, *op);
  }
}

}  // namespace corail
