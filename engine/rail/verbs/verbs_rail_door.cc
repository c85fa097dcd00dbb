#include "engine/rail/verbs/verbs_rail_door.h"

#include <fmt/core.h>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "engine/exec/shielded.h"
#include "engine/exec/sleep.h"
#include "engine/rail/verbs/verbs_path.h"

namespace corail {
namespace {

/// How long to wait before a device that refused to destroy a queue pair is asked again.
constexpr Duration kServedPairPause = std::chrono::milliseconds(100);

}  // namespace

VerbsRailDoor::VerbsRailDoor(std::shared_ptr<VerbsPort> port, Clock& clock)
    : port_(std::move(port)),
      clock_(clock),
      executor_(port_->asio_executor()),
      destroyed_(executor_) {}

VerbsRailDoor::~VerbsRailDoor() {
  CORAIL_CHECK(sessions_.empty(), "a door was destroyed without an awaited close()");
}

Result<void> VerbsRailDoor::open() {
  const auto described = port_->describe();
  if (!described.ok()) return described.error();
  return ok_result();
}

RailEndpoint VerbsRailDoor::admit_session(SessionId session, ChannelToken token,
                                          LeaseGate& /*gate*/) {
  const bool added = sessions_.try_emplace(session).second;
  CORAIL_CHECK(added, "a session was admitted twice");
  RailEndpoint endpoint;
  endpoint.transport = "verbs";
  endpoint.address = port_->address();
  endpoint.token = token;
  return endpoint;
}

Task<Result<std::string>> VerbsRailDoor::greet(SessionId session, std::string words) {
  const auto asked = decode_greeting(words);
  if (!asked.ok()) co_return asked.error();
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) {
    co_return Error(Errc::kRefused, Stage::kConnect, "the session that the rail is of has ended");
  }
  // What a later generation replaces goes first, so that a rail never has more than it may.
  std::vector<std::unique_ptr<QueuePair>> replaced;
  for (std::size_t i = 0; i < asked->pairs.size(); ++i) {
    const auto key = std::pair(asked->rail, asked->first_channel + static_cast<std::uint32_t>(i));
    const auto old = found->second.find(key);
    if (old == found->second.end()) continue;
    if (old->second.generation >= asked->generation) {
      co_return Error(Errc::kRefused, Stage::kConnect,
                      "a later generation of the rail is connected already");
    }
    replaced.push_back(std::move(old->second.pair));
    found->second.erase(old);
  }
  co_await shielded(destroy(std::move(replaced)));
  const auto still = sessions_.find(session);
  if (still == sessions_.end()) {
    co_return Error(Errc::kRefused, Stage::kConnect, "the session that the rail is of has ended");
  }
  co_return answer(still->second, *asked);
}

Result<std::string> VerbsRailDoor::answer(Pairs& pairs, const Greeting& asked) {
  if (pairs.size() + asked.pairs.size() > kMaxSessionPairs) {
    return Error(Errc::kBusy, Stage::kConnect,
                 fmt::format("a session may have {} queue pairs on {}; ask for fewer channels per "
                             "rail",
                             kMaxSessionPairs, port_->name()));
  }
  auto own = port_->describe();
  if (!own.ok()) return own.error();
  own->rail = asked.rail;
  own->generation = asked.generation;
  own->first_channel = asked.first_channel;
  std::vector<std::unique_ptr<QueuePair>> made;
  for (std::size_t i = 0; i < asked.pairs.size(); ++i) {
    auto pair = port_->make_pair(true);
    if (!pair.ok()) return std::move(pair).error();
    made.push_back(std::move(pair).value());
    GreetedPair greeted;
    greeted.number = made.back()->number();
    greeted.psn = port_->random_psn();
    own->pairs.push_back(greeted);
    const auto path = path_between(*own, i, asked, i, port_->gid_index(), port_->options().port);
    if (!path.ok()) return path.error();
    // It only answers, so ready to receive is where it stays.
    const auto ready = made.back()->answer(*path);
    if (!ready.ok()) return ready.error();
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    Served& served =
        pairs[std::pair(asked.rail, asked.first_channel + static_cast<std::uint32_t>(i))];
    served.generation = asked.generation;
    served.pair = std::move(made[i]);
  }
  return encode(*own);
}

/// Nothing reads through them any more when this returns.
Task<void> VerbsRailDoor::destroy(std::vector<std::unique_ptr<QueuePair>> pairs) {
  ++destroying_;
  for (const auto& pair : pairs) {
    auto gone = pair->destroy();
    while (!gone.ok()) {
      log_limited("served queue pair not destroyed", LogLevel::kError, "{}",
                  gone.error().to_string());
      const auto timer = clock_.make_timer(executor_);
      co_await sleep_until(*timer, clock_.now() + kServedPairPause);
      gone = pair->destroy();
    }
  }
  --destroying_;
  destroyed_.notify();
}

Task<void> VerbsRailDoor::drop_session(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) co_return;
  std::vector<std::unique_ptr<QueuePair>> pairs;
  for (auto& [key, served] : found->second) pairs.push_back(std::move(served.pair));
  sessions_.erase(found);
  co_await shielded(destroy(std::move(pairs)));
}

Task<void> VerbsRailDoor::close() {
  while (!sessions_.empty()) {
    const SessionId next = sessions_.begin()->first;
    co_await shielded(drop_session(next));
  }
  while (destroying_ > 0) co_await shielded(destroyed_.wait());
}

std::size_t VerbsRailDoor::pairs() const noexcept {
  std::size_t count = 0;
  for (const auto& [session, pairs] : sessions_) count += pairs.size();
  return count;
}

}  // namespace corail
