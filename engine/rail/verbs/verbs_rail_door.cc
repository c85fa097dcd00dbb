#include "engine/rail/verbs/verbs_rail_door.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "engine/exec/run_on.h"
#include "engine/exec/shielded.h"
#include "engine/exec/sleep.h"
#include "engine/rail/verbs/door_under_way.h"
#include "engine/rail/verbs/kept_pairs.h"
#include "engine/rail/verbs/verbs_path.h"

namespace corail {
namespace {

/// Where the queue pair that answers the greeting's so manieth is kept.
std::pair<std::uint64_t, std::uint32_t> key_of(const Greeting& asked, std::size_t index) noexcept {
  return {asked.rail, asked.first_channel + static_cast<std::uint32_t>(index)};
}

}  // namespace

VerbsRailDoor::VerbsRailDoor(std::shared_ptr<VerbsPort> port, Clock& clock)
    : port_(std::move(port)), clock_(clock), executor_(port_->asio_executor()), ended_(executor_) {
  port_->add_owner(*this);
}

VerbsRailDoor::~VerbsRailDoor() {
  CORAIL_CHECK(sessions_.empty(), "a door was destroyed without an awaited close()");
  port_->remove_owner(*this);
}

Result<void> VerbsRailDoor::open() {
  // A port that is down may come up; greetings are refused until then.
  if (port_->fault()) return *port_->fault();
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
  auto asked = decode_greeting(words);
  if (!asked.ok()) co_return asked.error();
  Greeting greeting = std::move(asked).value();
  const UnderWay under_way(*this);
  auto answered = co_await shielded(replace(session, std::move(greeting)));
  co_return answered;
}

/// What an earlier generation has goes first, so that a rail never has more than it may. While that
/// goes on others may come, so that everything is looked at again.
Task<Result<std::string>> VerbsRailDoor::replace(SessionId session, Greeting asked) {
  const TimePoint give_up = clock_.now() + kGreetTime;
  for (;;) {
    const auto found = sessions_.find(session);
    if (found == sessions_.end()) {
      co_return Error(Errc::kRefused, Stage::kConnect, "the session that the rail is of has ended");
    }
    auto allowed = check_allowed(found->second, asked);
    if (!allowed.ok()) co_return std::move(allowed).error();
    if (clock_.now() >= give_up) {
      co_return Error(Errc::kBusy, Stage::kConnect,
                      fmt::format("{} was busy with earlier greetings of the rail for as long as "
                                  "a requester waits; check its device",
                                  port_->name()));
    }
    // One at a time, so that a rail never has more than it may.
    const TimePoint from = being_built(found->second, asked) ? clock_.now() + kRebuildGap
                                                             : may_build_at(found->second, asked);
    if (clock_.now() < from) {
      co_await pause_until(from);
      continue;
    }
    ServedPairs leftover;
    for (std::size_t i = 0; i < asked.pairs.size(); ++i) {
      const auto old = found->second.find(key_of(asked, i));
      const bool has = old != found->second.end() && old->second.pair != nullptr;
      if (has) leftover.push_back(std::move(old->second.pair));
    }
    if (!leftover.empty()) {
      co_await destroy(std::move(leftover));
      continue;
    }
    // Also a try that fails counts: it costs the device as much.
    for (std::size_t i = 0; i < asked.pairs.size(); ++i) {
      Served& served = found->second[key_of(asked, i)];
      served.built = clock_.now();
      served.building = true;
    }
    ServedPairs made;
    auto answered = co_await answer(asked, made);
    const auto still = sessions_.find(session);
    if (still != sessions_.end()) {
      for (std::size_t i = 0; i < asked.pairs.size(); ++i) {
        Served& served = still->second[key_of(asked, i)];
        served.building = false;
        if (!answered.ok()) continue;
        served.generation = asked.generation;
        served.pair = std::move(made[i]);
      }
      if (answered.ok()) co_return encode(*answered);
    }
    co_await destroy(std::move(made));
    if (!answered.ok()) co_return std::move(answered).error();
  }
}

bool VerbsRailDoor::being_built(const Pairs& pairs, const Greeting& asked) {
  for (std::size_t i = 0; i < asked.pairs.size(); ++i) {
    const auto old = pairs.find(key_of(asked, i));
    if (old != pairs.end() && old->second.building) return true;
  }
  return false;
}

/// Nothing is taken from a rail whose greeting is refused.
Result<void> VerbsRailDoor::check_allowed(const Pairs& pairs, const Greeting& asked) const {
  std::size_t added = 0;
  for (std::size_t i = 0; i < asked.pairs.size(); ++i) {
    const auto old = pairs.find(key_of(asked, i));
    if (old == pairs.end()) {
      ++added;
    } else if (old->second.generation >= asked.generation) {
      return Error(Errc::kRefused, Stage::kConnect,
                   "a later generation of the rail is connected already");
    }
  }
  if (pairs.size() + added <= kMaxSessionPairs) return ok_result();
  return Error(Errc::kBusy, Stage::kConnect,
               fmt::format("a session may have {} queue pairs on {}; ask for fewer channels per "
                           "rail",
                           kMaxSessionPairs, port_->name()));
}

/// Waited for and not refused, because the requester keeps to the gap by a clock of its own.
TimePoint VerbsRailDoor::may_build_at(const Pairs& pairs, const Greeting& asked) const {
  TimePoint at{};
  for (std::size_t i = 0; i < asked.pairs.size(); ++i) {
    const auto old = pairs.find(key_of(asked, i));
    if (old != pairs.end()) at = std::max(at, old->second.built + kRebuildGap);
  }
  return at;
}

/// Builds them all, or fails; `made` is what there is then.
Task<Result<Greeting>> VerbsRailDoor::answer(const Greeting& asked, ServedPairs& made) {
  auto pairs = co_await run_on(port_->control_executor(),
                               make_pairs(port_.get(), asked.pairs.size(), PeerMay::kRead));
  if (!pairs.ok()) co_return std::move(pairs).error();
  for (auto& pair : *pairs)
    made.push_back(std::make_shared<ServedPair>(std::move(pair), executor_));
  auto described = port_->describe();
  if (!described.ok()) co_return std::move(described).error();
  Greeting own = std::move(described->greeting);
  own.rail = asked.rail;
  own.generation = asked.generation;
  own.first_channel = asked.first_channel;
  std::vector<PairPath> ours;
  for (std::size_t i = 0; i < made.size(); ++i) {
    GreetedPair greeted;
    greeted.number = made[i]->number;
    greeted.psn = port_->random_psn();
    own.pairs.push_back(greeted);
    const auto path = path_between(own, i, asked, i, described->gid_index, port_->options().port);
    if (!path.ok()) co_return path.error();
    ours.push_back({made[i]->pair.get(), *path});
  }
  auto ready = co_await run_on(port_->control_executor(), connect_pairs(std::move(ours)));
  if (ready.ok() && port_->fault()) ready = *port_->fault();
  if (!ready.ok()) co_return std::move(ready).error();
  co_return own;
}

/// Nothing reads through them any more when this returns, and every order has ended.
Task<void> VerbsRailDoor::destroy(ServedPairs pairs) {
  std::optional<TimePoint> give_up;  // counts from when the device refuses
  for (auto& pair : pairs) {
    stop(*pair, Error(Errc::kConnectionLost, Stage::kServe, "the channel was closed"));
  }
  for (auto& pair : pairs) {
    auto gone = co_await run_on(port_->control_executor(), destroy_pair(pair->pair.get()));
    while (!gone.ok()) {
      log_limited("served queue pair not destroyed", LogLevel::kError, "{}",
                  gone.error().to_string());
      if (!give_up) give_up = clock_.now() + kDestroyTime;
      // Not while it may send from memory that would be reused (I6).
      if (clock_.now() >= *give_up && pair->account.outstanding() == 0) {
        // In ERR it answers nobody; a device that is gone answers nobody either.
        [[maybe_unused]] const auto failed = pair->pair->fail();
        keep_for_ever(port_, std::move(pair->pair));
        break;
      }
      co_await pause_until(clock_.now() + kDestroyPause);
      gone = co_await run_on(port_->control_executor(), destroy_pair(pair->pair.get()));
    }
    end_with_pair(*pair);
    while (!pair->pushes.empty()) co_await pair->pushes_ended.wait();
  }
}

Task<void> VerbsRailDoor::pause_until(TimePoint when) {
  const auto timer = clock_.make_timer(executor_);
  co_await sleep_until(*timer, when);
}

Task<void> VerbsRailDoor::drop_session(SessionId session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) co_return;
  ServedPairs pairs;
  for (auto& [key, served] : found->second) {
    if (served.pair == nullptr) continue;
    // It answers nobody from here on, however long destroying it takes.
    [[maybe_unused]] const auto failed = served.pair->pair->fail();
    pairs.push_back(std::move(served.pair));
  }
  sessions_.erase(found);
  const UnderWay under_way(*this);
  co_await shielded(destroy(std::move(pairs)));
}

Task<void> VerbsRailDoor::close() {
  while (!sessions_.empty()) {
    const SessionId next = sessions_.begin()->first;
    co_await shielded(drop_session(next));
  }
  while (under_way_ > 0) co_await shielded(ended_.wait());
}

std::size_t VerbsRailDoor::pairs() const noexcept {
  std::size_t count = 0;
  for (const auto& [session, pairs] : sessions_) {
    for (const auto& [key, served] : pairs) count += served.pair != nullptr ? 1 : 0;
  }
  return count;
}

}  // namespace corail
