// How a verbs rail's queue pairs are made, rebuilt and destroyed.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/base/log.h"
#include "engine/exec/run_on.h"
#include "engine/exec/shielded.h"
#include "engine/exec/sleep.h"
#include "engine/rail/rail_greeter.h"
#include "engine/rail/verbs/control_calls.h"
#include "engine/rail/verbs/kept_pairs.h"
#include "engine/rail/verbs/transport_waiter.h"
#include "engine/rail/verbs/verbs_path.h"

namespace corail {
namespace {

/// How long close() waits for flushes before it destroys the queue pairs all the same.
constexpr Duration kDrainTime = std::chrono::seconds(1);

}  // namespace

Task<Result<void>> VerbsTransport::connect(RailEndpoint remote, TimePoint deadline) {
  if (phase_ != Phase::kNew) {
    co_return Error(Errc::kInvalidArgument, Stage::kConnect, "a rail connects once only");
  }
  remote_ = std::move(remote);
  if (remote_.greeter == nullptr) {
    co_return Error(Errc::kInvalidArgument, Stage::kConnect,
                    "a verbs rail needs somebody to carry its greeting to the holder");
  }
  phase_ = Phase::kConnecting;
  // A half-open set of channels has to be taken down whatever happens to the caller.
  auto opened = co_await shielded(open_channels(deadline));
  if (opened.ok() && phase_ == Phase::kConnecting) {
    phase_ = Phase::kConnected;
  } else {
    std::optional<TimePoint> give_up;
    for (const auto& channel : channels_) co_await shielded(destroy(*channel, give_up));
    if (phase_ == Phase::kConnecting) phase_ = Phase::kClosed;
    if (opened.ok()) opened = Error(Errc::kClosed, Stage::kConnect, "the rail was closed");
  }
  connect_ended_.notify();
  co_return opened;
}

Task<Result<void>> VerbsTransport::open_channels(TimePoint deadline) {
  std::vector<VerbsChannel*> all;
  for (std::uint32_t i = 0; i < port_->options().channels; ++i) {
    channels_.push_back(std::make_unique<VerbsChannel>(i));
    all.push_back(channels_.back().get());
  }
  auto joined = co_await join_peer(all, deadline);
  co_return joined;
}

/// New queue pairs for these channels, and what the peer must know of them.
Task<Result<LocalEnd>> VerbsTransport::offer(std::span<VerbsChannel* const> joined) {
  auto made =
      co_await run_on(port_->control_executor(), make_pairs(port_.get(), joined.size(), false));
  if (!made.ok()) co_return std::move(made).error();
  for (std::size_t i = 0; i < joined.size(); ++i) joined[i]->pair = std::move((*made)[i]);
  auto own = port_->describe();
  if (!own.ok()) co_return own;
  own->greeting.generation = port_->next_generation();
  own->greeting.first_channel = static_cast<std::uint8_t>(joined.front()->index);
  for (VerbsChannel* const channel : joined) {
    channel->own_psn = port_->random_psn();
    GreetedPair greeted;
    greeted.number = channel->pair->number();
    greeted.psn = channel->own_psn;
    own->greeting.pairs.push_back(greeted);
  }
  co_return own;
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<void>> VerbsTransport::join_peer(std::span<VerbsChannel* const> joined,
                                             TimePoint deadline) {
  const auto own = co_await offer(joined);
  if (!own.ok()) co_return own.error();
  // The session that carries greetings may be gone together with the rail.
  if (!wants_channels()) co_return Error(Errc::kClosed, Stage::kConnect, "the rail was closed");
  if (clock_.now() >= deadline) {
    // No fault of the path: nobody has been asked yet.
    co_return Error(Errc::kBusy, Stage::kConnect,
                    fmt::format("{} took all the time that there was to make queue pairs; check "
                                "the device",
                                port_->name()));
  }
  const TimePoint until = std::min(deadline, clock_.now() + kGreetTime);
  auto words = co_await remote_.greeter->greet(encode(own->greeting), until);
  if (!words.ok()) co_return std::move(words).error();
  const auto peer = decode_greeting(*words);
  if (!peer.ok()) co_return peer.error();
  std::vector<PairPath> ours;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    const auto path =
        path_between(own->greeting, i, *peer, i, own->gid_index, port_->options().port);
    if (!path.ok()) co_return path.error();
    ours.push_back({joined[i]->pair.get(), *path});
  }
  // The holder's end answers by now, so that ours may send: both are ready.
  auto ready = co_await run_on(port_->control_executor(), connect_pairs(std::move(ours), true));
  // The device may be lost since it was asked.
  if (ready.ok() && port_->fault()) ready = *port_->fault();
  if (!ready.ok()) co_return ready;
  for (VerbsChannel* const channel : joined) {
    channel->fault = ChannelFault::kNone;
    // From here on: what comes no faster than that to us comes no faster to the holder.
    channel->built = clock_.now();
  }
  co_return ready;
}

#pragma GCC diagnostic pop

void VerbsTransport::look_after_channels() {
  if (!usable()) return;
  for (const auto& channel : channels_) {
    if (channel->fault == ChannelFault::kNone || !channel->drained() || channel->rebuilding) {
      continue;
    }
    channel->rebuilding = true;
    scope_.spawn(rebuild(*channel));
  }
}

Task<void> VerbsTransport::rebuild(VerbsChannel& channel) {
  std::optional<TimePoint> give_up;
  co_await destroy(channel, give_up);
  const TimePoint from = channel.built + kRebuildGap;
  if (clock_.now() < from) co_await pause(from - clock_.now());
  if (usable()) {
    std::array<VerbsChannel*, 1> alone = {&channel};
    const auto joined = co_await join_peer(alone, clock_.now() + kGreetTime);
    if (!joined.ok() && usable()) {
      channel.fault = ChannelFault::kPath;
      // With its own code: what the holder refuses is not the path's fault.
      lose(Error(joined.error().code(), Stage::kConnect,
                 fmt::format("a queue pair could not be built anew: {}", joined.error().detail())));
    }
  }
  channel.rebuilding = false;
  pump();
}

/// The device tells nothing more of what was posted on the channel, and touches none of it. A queue
/// pair that it refuses to destroy for kDestroyTime, since the first refusal of those that share
/// `give_up`, is kept for ever; not while something is posted on it, because then nobody knows what
/// the device still writes (I1).
Task<void> VerbsTransport::destroy(VerbsChannel& channel, std::optional<TimePoint>& give_up) {
  while (channel.pair != nullptr) {
    const auto destroyed =
        co_await run_on(port_->control_executor(), destroy_pair(channel.pair.get()));
    if (destroyed.ok()) {
      // Its last completions may still be in the queue.
      port_->drain();
      channel.pair.reset();
      break;
    }
    log_limited("queue pair not destroyed", LogLevel::kError,
                "{}; memory that it may touch is kept", destroyed.error().to_string());
    if (!give_up) give_up = clock_.now() + kDestroyTime;
    if (channel.drained() && clock_.now() >= *give_up) {
      keep_for_ever(port_, std::move(channel.pair));
      break;
    }
    co_await pause(kDestroyPause);
  }
  for (const std::uint64_t left : channel.account.abandon()) {
    settle(OpKey::unpack(left), Error(Errc::kFlushed, Stage::kClose, "its queue pair is gone"));
  }
}

Task<void> VerbsTransport::close() {
  if (phase_ == Phase::kClosed || phase_ == Phase::kNew) {
    phase_ = Phase::kClosed;
    co_await shielded(scope_.join());
    co_return;
  }
  const bool connecting = phase_ == Phase::kConnecting;
  phase_ = Phase::kClosing;
  if (connecting) co_await shielded(connect_ended_.wait());
  // Whoever rebuilds finds the rail closed, and ends.
  for (const VerbsRequest& request : std::exchange(waiting_, {})) {
    end(request, Error(Errc::kFlushed, Stage::kClose, "the rail was closed"));
  }
  bool fenced = false;
  for (const auto& channel : channels_) {
    if (!channel->ready()) continue;
    channel->fault = ChannelFault::kFence;
    [[maybe_unused]] const auto failed = channel->pair->fail();
    fenced = true;
  }
  deliver();
  // What an earlier fence has not flushed waits for no more flushes: destroying ends it.
  if (fenced) co_await shielded(wait_until_drained(clock_.now() + kDrainTime));
  std::optional<TimePoint> give_up;
  for (const auto& channel : channels_) {
    if (!channel->rebuilding) co_await shielded(destroy(*channel, give_up));
  }
  deliver();
  co_await shielded(scope_.join());
  // Those that were being rebuilt when this began.
  for (const auto& channel : channels_) co_await shielded(destroy(*channel, give_up));
  deliver();
  co_await shielded(scope_.join());
  phase_ = Phase::kClosed;
}

Task<void> VerbsTransport::wait_until_drained(TimePoint deadline) {
  Waiter waiter(*this, deadline);
  const auto drained = [this] {
    return std::all_of(channels_.begin(), channels_.end(),
                       [](const auto& channel) { return channel->drained(); });
  };
  while (!drained() && !waiter.expired()) co_await waiter.wait();
}

Task<void> VerbsTransport::pause(Duration time) {
  const auto timer = clock_.make_timer(executor_);
  co_await sleep_until(*timer, clock_.now() + time);
}

}  // namespace corail
