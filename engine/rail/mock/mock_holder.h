#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/rail/mock/mock_channel.h"
#include "engine/rail/rail_door.h"

namespace corail {

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
/// session's gate: one process, no copy of the holder's work. So are orders, once their bytes are
/// on offer: a push has ended when the last packet has arrived. Members as RailDoor says,
/// connections come in on any thread.
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
  Task<Result<void>> push(SessionId session, PushOrder order, PinnedBytes bytes,
                          std::function<bool()> cancelled) override;
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
  Result<std::shared_ptr<MockChannel>> find(SessionId session, std::uint64_t channel);
  /// Returns when no push of the session is under way, or of any where none is named.
  Task<void> pushes_ended(std::optional<SessionId> session);

  MockNet& net_;
  const std::string address_;
  std::mutex mutex_;
  bool open_ = false;
  std::map<ChannelToken, Admitted> admitted_;
  std::vector<std::shared_ptr<MockChannel>> channels_;
  std::uint64_t names_ = 0;  // that were given to channels
  // On the port's executor:
  std::map<SessionId, std::size_t> pushing_;  // calls of push(), where there are any
  std::vector<Event*> waiting_;               // until there are fewer, in frames of pushes_ended()
};

}  // namespace corail
