#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/exec/credits.h"
#include "engine/exec/task.h"
#include "engine/rail/port.h"
#include "engine/rail/rail_door.h"
#include "rpc/rail_host.h"

namespace corail {

/// Gives each accepted session its way in through the doors of all ports. Owned by the node, home
/// executor; the doors run on their ports' executors. Ports and gate outlive it; close() must have
/// been awaited before destruction.
class PortHost final : public RailHost {
 public:
  PortHost(asio::any_io_executor home, std::span<const std::unique_ptr<Port>> ports,
           LeaseGate* gate, Random& random);
  ~PortHost() override;

  /// Binds every port's address. Fails with the first that cannot be bound. Where it was not called
  /// before, the first session that wants in does it: a node that serves nobody binds nothing.
  Task<Result<void>> open();

  Task<Result<std::vector<RailEndpoint>>> admit(SessionId session) override;
  Task<Result<std::string>> greet(SessionId session, std::uint32_t door,
                                  std::string words) override;
  Task<Result<void>> push(SessionId session, std::uint32_t door, PushOrder order, PinnedBytes bytes,
                          std::function<bool()> cancelled) override;
  Task<void> drop(SessionId session) override;
  Task<void> close();

 private:
  Result<void> check_door(std::uint32_t door) const;
  Task<Result<void>> open_doors();
  Task<void> close_doors(std::vector<std::unique_ptr<RailDoor>> doors);

  const asio::any_io_executor home_;
  const std::span<const std::unique_ptr<Port>> ports_;
  LeaseGate* const gate_;  // null: the node holds nothing, and no session gets rails
  Random& random_;
  std::vector<std::unique_ptr<RailDoor>> doors_;  // by index of the port
  bool open_ = false;
  bool closed_ = false;
  Credits opening_turn_;  // one opens or closes, others wait for it
};

}  // namespace corail
