#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/rail/mock/mock_push.h"
#include "engine/rail/push_numbers.h"
#include "engine/rail/rail_door.h"
#include "engine/rail/slice.h"

namespace corail {

/// One mock rail's way into the holder: what a queue pair or a socket pair would be. Shared by the
/// requester's transport and the holder's door, on their threads; the lock is held while bytes are
/// copied, so that shut() is a fence for the holder's memory.
class MockChannel : public std::enable_shared_from_this<MockChannel> {
 public:
  /// `name` is what orders call it.
  MockChannel(SessionId session, std::uint64_t name, LeaseGate& gate)
      : session_(session), name_(name), gate_(&gate) {}

  /// Asks the gate for the bytes of a slice and pins them under `key` (I6). kConnectionLost once
  /// shut.
  Result<void> admit(std::uint64_t key, ReadContext context, const Slice& slice);

  /// Copies bytes [offset, offset + length) of the slice. False once shut, or when the key is not
  /// admitted.
  bool copy(std::uint64_t key, std::uint64_t offset, std::uint64_t length, std::byte* to);

  /// Drops the pin. Harmless for a key that is not there.
  void end(std::uint64_t key);

  /// The door has the bytes of an order: the requester's transport is told, and takes them.
  /// kRefused where the number was used, kConnectionLost once shut.
  Result<void> offer(std::uint64_t number, PinnedBytes bytes, std::shared_ptr<MockPush> push);

  /// As copy(), for what is on offer under the number. The door is asked then whether it was
  /// cancelled, which ends the push before its next part.
  bool copy_pushed(std::uint64_t number, std::uint64_t offset, std::uint64_t length, std::byte* to);

  /// Drops the pin, and tells the door what became of it. Harmless for a number that is not there.
  void end_push(std::uint64_t number, Result<void> result);

  /// When it returns, nothing is being read and every pin is gone. Idempotent.
  void shut();
  bool is_shut() const;

  /// `shut` is called when somebody has shut the channel, on his thread, or from within this call
  /// where that has happened already; `offered` for every order whose bytes are on offer, on the
  /// door's thread. They must do no more than post. Forgotten by forget_requester(), after which
  /// they do not run.
  void tell_requester(std::function<void()> shut, std::function<void(std::uint64_t)> offered);
  void forget_requester();

  SessionId session() const noexcept { return session_; }
  std::uint64_t name() const noexcept { return name_; }

 private:
  struct Pushed {
    PinnedBytes bytes;
    std::shared_ptr<MockPush> push;
  };

  static bool copy_part(std::span<const std::byte> bytes, std::uint64_t offset,
                        std::uint64_t length, std::byte* to);
  static void tell(const std::shared_ptr<MockPush>& push, Result<void> result);

  const SessionId session_;
  const std::uint64_t name_;
  mutable std::mutex mutex_;
  LeaseGate* gate_;  // null once shut
  std::map<std::uint64_t, PinnedBytes> served_;
  std::map<std::uint64_t, Pushed> pushed_;
  PushNumbers order_numbers_;
  std::function<void()> on_shut_;
  std::function<void(std::uint64_t)> on_offered_;
};

}  // namespace corail
