#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/rail/rail_door.h"
#include "engine/rail/slice.h"

namespace corail {

/// One mock rail's way into the holder: what a queue pair or a socket pair would be. Shared by the
/// requester's transport and the holder's door, on their threads; the lock is held while bytes are
/// copied, so that shut() is a fence for the holder's memory.
class MockChannel {
 public:
  MockChannel(SessionId session, LeaseGate& gate) : session_(session), gate_(&gate) {}

  /// Asks the gate for the bytes of a slice and pins them under `key` (I6). kConnectionLost once
  /// shut.
  Result<void> admit(std::uint64_t key, ReadContext context, const Slice& slice);

  /// Copies bytes [offset, offset + length) of the slice. False once shut, or when the key is not
  /// admitted.
  bool copy(std::uint64_t key, std::uint64_t offset, std::uint64_t length, std::byte* to);

  /// Drops the pin. Harmless for a key that is not there.
  void end(std::uint64_t key);

  /// When it returns, nothing is being read and every pin is gone. Idempotent.
  void shut();
  bool is_shut() const;

  /// `shut` is called when somebody has shut the channel, on his thread, or from within this call
  /// where that has happened already. It must do no more than post. Forgotten by forget_shut(),
  /// after which it does not run.
  void when_shut(std::function<void()> shut);
  void forget_shut();

  SessionId session() const noexcept { return session_; }

 private:
  const SessionId session_;
  mutable std::mutex mutex_;
  LeaseGate* gate_;  // null once shut
  std::map<std::uint64_t, PinnedBytes> served_;
  std::function<void()> on_shut_;
};

/// The doors of the mock holders of one process, by address: what the network is to other
/// transports. Outlives the doors and transports that were given it. Thread-safe.
class MockNet {
 public:
  /// Opens a channel to whoever admits this endpoint. kConnectFailed when nobody listens at the
  /// address or the token opens no session there.
  Result<std::shared_ptr<MockChannel>> connect(const RailEndpoint& endpoint);

 private:
  friend class MockHolder;

  std::mutex mutex_;
  std::map<std::string, class MockHolder*> doors_;
};

/// The holder's side of a mock rail. Reads are served by the requester's transport, through the
/// session's gate: one process, no copy of the holder's work. Members as RailDoor says, connections
/// come in on any thread.
class MockHolder final : public RailDoor {
 public:
  /// `address` names it in endpoints.
  MockHolder(MockNet& net, std::string address);
  ~MockHolder() override;
  MockHolder(const MockHolder&) = delete;
  MockHolder& operator=(const MockHolder&) = delete;

  Result<void> open() override;
  RailEndpoint admit_session(SessionId session, ChannelToken token, LeaseGate& gate) override;
  Task<void> drop_session(SessionId session) override;
  Task<void> close() override;

  /// Cuts every channel at once, as when the process dies; later connects fail.
  void shut();

 private:
  friend class MockNet;

  struct Admitted {
    SessionId session;
    LeaseGate* gate = nullptr;
  };

  Result<std::shared_ptr<MockChannel>> accept(const RailEndpoint& endpoint);
  void drop(SessionId session);

  MockNet& net_;
  const std::string address_;
  std::mutex mutex_;
  bool open_ = false;
  std::map<ChannelToken, Admitted> admitted_;
  std::vector<std::shared_ptr<MockChannel>> channels_;
};

}  // namespace corail
