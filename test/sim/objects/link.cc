#include "test/sim/objects/link.h"

#include <utility>

#include "rpc/codec.h"
#include "rpc/object_codec.h"

namespace corail::sim {
namespace {

bool confirms(Method method) {
  return method == Method::kConfirmAndRelease || method == Method::kConfirmLease;
}

}  // namespace

LeaseEars::LeaseEars(ObjectModel& model, ObjectLink& wire, Opening opening)
    : model_(model),
      wire_(wire),
      opening_(std::move(opening)),
      sent_([this](const FrameHeader& header, std::span<const std::byte> body) {
        on_sent(header, body);
      }),
      received_([this](const FrameHeader& header, std::span<const std::byte> body) {
        on_received(header, body);
      }) {}

StreamEars LeaseEars::sending() {
  StreamEars ears;
  ears.on_written = [this](std::span<const std::byte> bytes) { sent_.feed(bytes); };
  return ears;
}

StreamEars LeaseEars::receiving() {
  StreamEars ears;
  ears.on_read = [this](std::span<const std::byte> bytes) { received_.feed(bytes); };
  return ears;
}

void LeaseEars::on_sent(const FrameHeader& header, std::span<const std::byte> body) {
  // What the user answers to the holder's own calls goes the same way.
  if (header.kind != FrameKind::kRequest) return;
  if (header.method == Method::kOpenRails) {
    sender_ = opening_();
    sender_->wire = &wire_;
    opened_[header.id] = sender_;
    model_.journal().event("link {} uses the connection of link {}", sender_->number, wire_.number);
  }
  if (sender_ == nullptr || !confirms(header.method)) return;
  const auto read = decode_read_id(header.method, body);
  if (read) model_.on_confirm_sent(sender_->number, *read);
}

void LeaseEars::on_received(const FrameHeader& header, std::span<const std::byte> body) {
  if (header.kind != FrameKind::kRequest) return;
  if (header.method == Method::kOpenRails) receiver_ = opened_[header.id];
  if (receiver_ == nullptr) return;
  if (header.method == Method::kOpenObject) {
    const auto open = decode_open_object(body);
    if (open) model_.on_opened(receiver_->number, open->read, open->ttl);
  } else if (header.method == Method::kRenewLease) {
    const auto renewal = decode_renew(body);
    if (renewal) model_.on_renewed(receiver_->number, renewal->read, renewal->ttl);
  } else if (confirms(header.method)) {
    const auto read = decode_read_id(header.method, body);
    if (read) model_.on_confirm_heard(receiver_->number, *read);
  }
}

}  // namespace corail::sim
