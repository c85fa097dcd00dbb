#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/exec/event.h"
#include "engine/exec/op_table.h"
#include "engine/exec/task.h"
#include "engine/rail/mock/fault_script.h"
#include "engine/rail/mock/mock_agenda.h"
#include "engine/rail/mock/mock_holder.h"
#include "engine/rail/mock/mock_link.h"
#include "engine/rail/mock/mock_op.h"
#include "engine/rail/push.h"
#include "engine/rail/transport.h"

namespace corail {

struct MockOptions {
  MockOptions() {}

  LinkModel link;
  std::uint64_t max_slice_bytes = 32 * kMiB;
  std::uint32_t max_slices = 256;
  bool reports_landing = true;
  /// A fence flushes the slices of every sink, as with one queue pair; else of its own sink only.
  bool shared_fence = true;
};

/// What happened on a mock rail so far.
struct MockCounters {
  std::uint64_t posted = 0;         // slices
  std::uint64_t packets = 0;        // placed
  std::uint64_t stale_packets = 0;  // arrived after their slice's outcome, and were held back
  std::uint64_t stray_writes = 0;   // the same, not held back: a guard is off
  std::uint64_t fences = 0;
};

/// A modelled rail in this process: bytes are copied from the holder's memory into the destination,
/// packet by packet, when the model says that they arrive. The model's device misbehaves as the
/// script says; the transport guards against it as one over real devices must. In virtual time
/// everything is exact and repeatable, in real time it is as fast as the model and the copying
/// allow.
///
/// Ownership, thread and closing as Transport says. Clock, randomness and net must outlive it.
class MockTransport final : public Transport {
 public:
  MockTransport(asio::any_io_executor executor, Clock& clock, Random& random, MockNet& net,
                MockOptions options, FaultScript script);
  ~MockTransport() override;
  MockTransport(const MockTransport&) = delete;
  MockTransport& operator=(const MockTransport&) = delete;

  Task<Result<void>> connect(RailEndpoint remote, TimePoint deadline) override;
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  void post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) override;
  Task<Result<void>> fence(SliceSink& sink, TimePoint deadline) override;
  Task<void> close() override;
  void when_lost(Lost lost) override { lost_ = std::move(lost); }
  bool usable() const noexcept override { return channel_ != nullptr && !dead_; }

  const MockCounters& counters() const noexcept { return counters_; }

  /// Ends FaultKind::kStuckClose.
  void unstick();

 private:
  void handle(const MockEvent& event);
  void admit(OpKey key, MockOp& op);
  void send_next();
  /// False where the owner has ended the push.
  bool send_packet(OpKey key, MockOp& op);
  void place(const MockEvent& packet, MockOp& op);
  void completed(OpKey key, MockOp& op);
  void write_stray(const MockEvent& stray);
  /// The packet's bytes, cut loose from the slice; none where the holder has sent nothing.
  MockEvent stray_of(const MockOp& op, const MockEvent& packet);
  void let_one_through(const SliceSink& sink);
  // Pushed slices: mock_orders.cc.
  void order(OpKey key, MockOp& op);
  void offered(std::uint64_t number);
  void answered(std::uint64_t number, Result<PushReceipt> receipt);
  MockOp* find_ordered(std::uint64_t number) noexcept;

  void finish(OpKey key, Result<void> outcome);
  void finish_all(const Error& error);
  /// The device is dead: every slice ends so, then the rail hears of it.
  void die(const Error& error);
  void watch_channel();
  std::vector<OpKey> keys_of(bool (*wanted)(const MockOp&));

  const asio::any_io_executor executor_;
  Clock& clock_;
  MockNet& net_;
  const MockOptions options_;
  const FaultScript script_;
  const Capabilities capabilities_;
  MockLink link_;
  OpTable<MockOp> ops_;
  std::deque<OpKey> wire_;  // admitted and not sent in full, in order; at most as many as ops_
  std::shared_ptr<PushCourier> courier_;    // of the endpoint
  std::uint64_t orders_ = 0;                // so far
  std::map<std::uint64_t, OpKey> ordered_;  // by number; as long as the slice has no outcome
  std::shared_ptr<MockChannel> channel_;
  MockCounters counters_;
  Event unstuck_;
  Lost lost_;
  bool wire_busy_ = false;
  bool dead_ = false;
  bool closed_ = false;
  /// Keeps the holder's hanging up, which comes from its thread, from reaching one that is gone.
  std::shared_ptr<MockTransport*> self_;
  MockAgenda agenda_;  // last: it calls back
};

}  // namespace corail
