#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/clock.h"
#include "engine/exec/op_table.h"

namespace corail {

/// Something that a modelled device will do.
struct MockEvent {
  enum class Kind : std::uint8_t {
    kReject,    // a slice that was posted on a dead rail gets its outcome
    kNoOrder,   // likewise a pushed one, where the peer takes no orders
    kAdmit,     // the request has reached the holder
    kPacket,    // bytes [from, to) of the slice have arrived
    kWireFree,  // the next packet may be sent
    kComplete,  // the device says that the slice is done
    kStray      // bytes that nothing holds back any more are written
  };

  MockEvent(Kind what, OpKey which) : kind(what), op(which) {}
  MockEvent(Kind what, OpKey which, std::uint64_t begin, std::uint64_t end)
      : kind(what), op(which), from(begin), to(end) {}

  Kind kind;
  OpKey op;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::byte* target = nullptr;      // kStray
  std::vector<std::byte> contents;  // kStray; kPacket of a pushed slice: what is on the wire
};

/// What a modelled device will do, and when: ordered by time, then by the order of adding. One
/// timer. On the executor's thread; the clock must outlive it. Destroying it forgets everything.
class MockAgenda {
 public:
  MockAgenda(asio::any_io_executor executor, Clock& clock,
             std::function<void(const MockEvent&)> handle);

  /// Never calls the handler from within this call, also when `when` has passed.
  void add(TimePoint when, MockEvent event);

  /// Turns the packets of `op` that are on the way into what `change` makes of them; nothing:
  /// forgets the packet.
  void replace_packets(OpKey op,
                       const std::function<std::optional<MockEvent>(const MockEvent&)>& change);

  void clear();

 private:
  void arm();
  void run_due();

  Clock& clock_;
  const std::function<void(const MockEvent&)> handle_;
  const std::unique_ptr<Timer> timer_;
  std::multimap<TimePoint, MockEvent> events_;
  std::optional<TimePoint> armed_for_;
  bool running_ = false;
};

}  // namespace corail
