#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/exec/event.h"
#include "engine/rail/rail_door.h"
#include "engine/rail/verbs/control_calls.h"
#include "engine/rail/verbs/greeting.h"
#include "engine/rail/verbs/served_pair.h"
#include "engine/rail/verbs/verbs_port.h"

namespace corail {

/// Queue pairs of one session through one verbs door, at most (I8).
inline constexpr std::size_t kMaxSessionPairs = 64;

/// The holder's side of a verbs port. A greeting makes queue pairs here that answer the
/// requester's; the device serves its READs, and this process takes no part in it. What it posts is
/// WRITEs, for orders: in parts of kPushPartBytes from memory that the port's device knows, the
/// last of which tells the requester by the low half of the order's number. An order of a queue
/// pair that is gone, or that a failed WRITE has brought down, fails; the requester greets anew.
///
/// What a device checks is the key: whoever has one may read the whole region, leased or not, until
/// the session is dropped and its queue pairs are gone. The requester finds out at the
/// confirmation.
///
/// Ownership and thread as RailDoor says. A rail has one queue pair for each of its channels; a
/// greeting of a later generation replaces them, no sooner than kRebuildGap after they were built,
/// one of an earlier is refused whole. A queue pair that the device will not destroy takes no
/// requests any more, and is kept for ever.
class VerbsRailDoor final : public RailDoor, private CompletionOwner {
 public:
  VerbsRailDoor(std::shared_ptr<VerbsPort> port, Clock& clock);
  ~VerbsRailDoor() override;
  VerbsRailDoor(const VerbsRailDoor&) = delete;
  VerbsRailDoor& operator=(const VerbsRailDoor&) = delete;

  Result<void> open() override;
  RailEndpoint admit_session(SessionId session, ChannelToken token, LeaseGate& gate) override;
  Task<void> drop_session(SessionId session) override;
  Task<Result<std::string>> greet(SessionId session, std::string words) override;
  Task<Result<void>> push(SessionId session, PushOrder order, PinnedBytes bytes,
                          std::function<bool()> cancelled) override;
  Task<void> close() override;

  /// For tests and reports.
  std::size_t pairs() const noexcept;

 private:
  struct Served {
    std::uint64_t generation = 0;
    std::shared_ptr<ServedPair> pair;  // none: it could not be built
    TimePoint built{};                 // or tried to
    bool building = false;
  };
  /// By the requester's rail and the channel in it.
  using Pairs = std::map<std::pair<std::uint64_t, std::uint32_t>, Served>;
  using ServedPairs = std::vector<std::shared_ptr<ServedPair>>;

  /// Counts a greeting, an order or a drop, so that close() can wait for it.
  class UnderWay;

  Task<Result<std::string>> replace(SessionId session, Greeting asked);
  Result<void> check_allowed(const Pairs& pairs, const Greeting& asked) const;
  TimePoint may_build_at(const Pairs& pairs, const Greeting& asked) const;
  Task<Result<Greeting>> answer(const Greeting& asked, ServedPairs& made);
  static bool being_built(const Pairs& pairs, const Greeting& asked);
  Task<void> destroy(ServedPairs pairs);
  Task<void> pause_until(TimePoint when);

  // Orders: verbs_door_pushes.cc.
  std::shared_ptr<ServedPair> pair_of(SessionId session, const PushOrder& order) const;
  Result<void> check_order(const PushOrder& order, std::uint64_t bytes) const;
  Task<Result<void>> serve(std::shared_ptr<ServedPair> pair, PushOrder order, PinnedBytes bytes,
                           std::function<bool()> cancelled);
  Task<Result<void>> write_parts(ServedPush& push, const PushOrder& order,
                                 std::span<const std::byte> bytes,
                                 const std::function<bool()>& cancelled);
  Result<bool> post_part(ServedPush& push, const PushOrder& order, std::uint64_t written,
                         std::span<const std::byte> rest, std::uint64_t& length);
  void settle(OpKey key);
  static void stop(ServedPair& pair, Error why);
  void end_with_pair(ServedPair& pair);
  void on_completion(OpKey key, const Completion& completion) noexcept override;
  void deliver() noexcept override;
  void on_broken(const Error& why) noexcept override;

  const std::shared_ptr<VerbsPort> port_;
  Clock& clock_;
  const asio::any_io_executor executor_;
  std::map<SessionId, Pairs> sessions_;
  std::size_t under_way_ = 0;  // greetings, orders and drops
  bool starved_ = false;       // some order waits for room in the port's table
  Event ended_;
};

}  // namespace corail
