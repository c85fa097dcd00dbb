// The modelled device under MockTransport: what happens between posting a slice and its outcome.

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "engine/rail/mock/mock_transport.h"

namespace corail {

void MockTransport::handle(const MockEvent& event) {
  if (event.kind == MockEvent::Kind::kWireFree) {
    wire_busy_ = false;
    send_next();
    return;
  }
  if (event.kind == MockEvent::Kind::kStray) {
    write_stray(event);
    return;
  }
  MockOp* op = ops_.find(event.op);
  if (op == nullptr) {
    if (event.kind == MockEvent::Kind::kPacket) ++counters_.stale_packets;
    return;
  }
  switch (event.kind) {
    case MockEvent::Kind::kReject:
      finish(event.op, Error(Errc::kConnectionLost, Stage::kSubmit, "the rail is down"));
      return;
    case MockEvent::Kind::kNoOrder:
      finish(event.op, Error(Errc::kRefused, Stage::kSubmit,
                             "the peer takes no orders to write; read from its memory instead"));
      return;
    case MockEvent::Kind::kAdmit:
      admit(event.op, *op);
      return;
    case MockEvent::Kind::kPacket:
      place(event, *op);
      return;
    case MockEvent::Kind::kComplete:
      if (op->order == 0) {
        completed(event.op, *op);
      } else {
        channel_->end_push(op->order, ok_result());  // the owner's device says so, to the owner
      }
      return;
    case MockEvent::Kind::kWireFree:
    case MockEvent::Kind::kStray:
      return;
  }
}

void MockTransport::admit(OpKey key, MockOp& op) {
  if (op.fenced || dead_) return;  // the fence, or whoever killed the rail, ends it
  if (script_.find(FaultKind::kRefuse, op.number) != nullptr) {
    // On a queue pair an access error is the end for everybody: whose fault it was is known, the
    // others are only flushed.
    dead_ = true;
    finish(key, Error(Errc::kRefused, Stage::kServe, "the holder refused the slice (scripted)"));
    die(Error(Errc::kFlushed, Stage::kWait, "flushed by another slice's access error"));
    return;
  }
  if (op.order != 0) {
    op.ready = clock_.now() + options_.link.latency / 2;
    wire_.push_back(key);
    send_next();
    return;
  }
  auto admitted = channel_->admit(key.packed(), op.context, op.slice);
  if (admitted) {
    wire_.push_back(key);
    send_next();
  } else if (admitted.error().code() == Errc::kConnectionLost) {
    die(admitted.error());
  } else {
    finish(key, std::move(admitted).error().at(Stage::kServe));
  }
}

void MockTransport::send_next() {
  while (!wire_busy_ && !wire_.empty()) {
    const OpKey key = wire_.front();
    MockOp* op = ops_.find(key);
    const Fault* stall = op ? script_.find(FaultKind::kStall, op->number) : nullptr;
    const bool stalled = stall != nullptr && op->packets >= stall->packet;
    if (op == nullptr || op->fenced || stalled) {
      wire_.pop_front();
      continue;
    }
    if (op->sent == 0) {
      const Fault* short_by = script_.find(FaultKind::kShort, op->number);
      if (short_by) op->deliverable -= std::min(short_by->amount, op->deliverable);
    }
    const bool sent = op->sent == op->deliverable || send_packet(key, *op);
    if (sent && op->sent < op->deliverable) continue;
    wire_.pop_front();
    if (!sent) continue;
    const Fault* early = script_.find(FaultKind::kEarlyCompletion, op->number);
    const TimePoint done = std::max(op->last_arrival, op->ready);
    agenda_.add(early ? done - early->delay : done, MockEvent(MockEvent::Kind::kComplete, key));
  }
}

bool MockTransport::send_packet(OpKey key, MockOp& op) {
  const auto fault = [&](FaultKind kind) -> const Fault* {
    const Fault* found = script_.find(kind, op.number);
    return found != nullptr && found->packet == op.packets ? found : nullptr;
  };
  const std::uint64_t from = op.sent;
  const std::uint64_t to = from + std::min(options_.link.packet_bytes, op.deliverable - from);
  MockEvent packet(MockEvent::Kind::kPacket, key, from, to);
  if (op.order != 0) {
    // What an owner has sent is on the wire, whatever becomes of its memory then.
    packet.contents.resize(to - from);
    const bool there = channel_->copy_pushed(op.order, from, to - from, packet.contents.data());
    if (!there) return false;
  }
  if (const Fault* slow = fault(FaultKind::kSlow)) link_.set_rate(slow->amount);
  const TimePoint free = link_.transmit(op.ready, to - from);
  TimePoint arrival = free;
  const Fault* late = script_.find(FaultKind::kLate, op.number);
  if (late && op.packets >= late->packet) arrival += late->delay;
  if (const Fault* overtaken = fault(FaultKind::kReorder)) arrival += overtaken->delay;
  const Fault* early = script_.find(FaultKind::kEarlyCompletion, op.number);
  if (early && to == op.deliverable) arrival += early->delay;
  if (const Fault* twice = fault(FaultKind::kDuplicate)) {
    agenda_.add(arrival + twice->delay, packet);
  }
  agenda_.add(arrival, std::move(packet));
  agenda_.add(free, MockEvent(MockEvent::Kind::kWireFree, key));
  wire_busy_ = true;
  op.sent = to;
  ++op.packets;
  op.last_arrival = std::max(op.last_arrival, arrival);
  return true;
}

void MockTransport::place(const MockEvent& packet, MockOp& op) {
  const Fault* cut = script_.find(FaultKind::kCut, op.number);
  if (cut && packet.from >= cut->packet * options_.link.packet_bytes) {
    // As a queue pair does whose path has gone: whose fault it was is for the rail to find out.
    die(Error(Errc::kFlushed, Stage::kWait,
              "the device flushed every slice and gave no reason; check the link"));
    return;
  }
  std::byte* const target = op.slice.destination + packet.from;
  if (op.order != 0) {
    std::memcpy(target, packet.contents.data(), packet.contents.size());
  } else if (!channel_->copy(packet.op.packed(), packet.from, packet.to - packet.from, target)) {
    die(Error(Errc::kConnectionLost, Stage::kWait,
              "the holder has closed the channel; check that it runs"));
    return;
  }
  ++counters_.packets;
  const Fault* flip = script_.find(FaultKind::kFlip, op.number);
  if (flip && flip->amount / 8 >= packet.from && flip->amount / 8 < packet.to) {
    op.slice.destination[flip->amount / 8] ^= std::byte{1} << (flip->amount % 8);
  }
  const std::uint64_t before = op.placed.prefix();
  op.placed.add(packet.from, packet.to);
  const std::uint64_t after = op.placed.prefix();
  if (options_.reports_landing && after > before) op.sink->on_landed(op.slice, before, after);
  if (op.completed && after == op.deliverable) finish(packet.op, ok_result());
}

void MockTransport::completed(OpKey key, MockOp& op) {
  op.completed = true;
  if (op.placed.prefix() == op.deliverable) {
    finish(key, ok_result());
  } else if (script_.trust_completions) {
    agenda_.replace_packets(
        key, [&](const MockEvent& packet) { return std::optional(stray_of(op, packet)); });
    finish(key, ok_result());
  }
  // Else the completion has overtaken bytes: the last packet ends the slice.
}

MockEvent MockTransport::stray_of(const MockOp& op, const MockEvent& packet) {
  const std::uint64_t length = packet.to - packet.from;
  MockEvent stray(MockEvent::Kind::kStray, packet.op, packet.from, packet.to);
  stray.target = op.slice.destination + packet.from;
  stray.contents = packet.contents;
  if (!stray.contents.empty()) return stray;
  stray.contents.resize(length);
  std::byte* const to = stray.contents.data();
  const bool there = op.order != 0 ? channel_->copy_pushed(op.order, packet.from, length, to)
                                   : channel_->copy(packet.op.packed(), packet.from, length, to);
  if (!there) stray.contents.clear();
  return stray;
}

void MockTransport::write_stray(const MockEvent& stray) {
  if (stray.contents.empty()) return;
  ++counters_.stray_writes;
  std::memcpy(stray.target, stray.contents.data(), stray.contents.size());
}

void MockTransport::let_one_through(const SliceSink& sink) {
  const Fault* fault = script_.find(FaultKind::kPacketAfterFence);
  if (fault == nullptr) return;
  bool done = false;
  ops_.for_each([&](OpKey key, MockOp& op) {
    if (done || op.sink != &sink || op.placed.prefix() >= op.slice.length) return;
    const std::uint64_t from = op.placed.prefix();
    const std::uint64_t to = from + std::min(options_.link.packet_bytes, op.slice.length - from);
    MockEvent stray = stray_of(op, MockEvent(MockEvent::Kind::kPacket, key, from, to));
    if (stray.contents.empty()) return;  // not admitted yet: the holder has sent nothing
    agenda_.add(clock_.now() + fault->delay, std::move(stray));
    done = true;
  });
}

}  // namespace corail
