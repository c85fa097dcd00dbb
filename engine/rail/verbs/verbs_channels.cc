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
  capabilities_.pushes = remote_.courier != nullptr;
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
    channels_.push_back(std::make_unique<VerbsChannel>(i, executor_));
    all.push_back(channels_.back().get());
  }
  auto joined = co_await join_peer(all, deadline);
  co_return joined;
}

/// New queue pairs for these channels, and what the peer must know of them.
Task<Result<LocalEnd>> VerbsTransport::offer(std::span<VerbsChannel* const> joined) {
  const PeerMay peer_may = capabilities_.pushes ? PeerMay::kWrite : PeerMay::kNothing;
  auto made =
      co_await run_on(port_->control_executor(), make_pairs(port_.get(), joined.size(), peer_may));
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
  // Both ends are ready once ours is: the holder's answers and may post by now.
  auto ready = co_await run_on(port_->control_executor(), connect_pairs(std::move(ours)));
  // The device may be lost since it was asked.
  if (ready.ok() && port_->fault()) ready = *port_->fault();
  if (!ready.ok()) co_return ready;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    VerbsChannel* const channel = joined[i];
    channel->peer_number = peer->pairs[i].number;
    channel->receive_failed = false;
    channel->fault = ChannelFault::kNone;
    // From here on: what comes no faster than that to us comes no faster to the holder.
    channel->built = clock_.now();
    post_receives(*channel);
  }
  co_return ready;
}

#pragma GCC diagnostic pop

/// No more requests for the channel's queue pair, and those that it has are flushed. Where the peer
/// may write, on a control thread.
void VerbsTransport::give_up_channel(VerbsChannel& channel, ChannelFault fault) {
  if (channel.fault != ChannelFault::kNone) return;  // its flushes are under way
  channel.fault = fault;
  if (channel.ordered.empty()) {
    // A device that refuses even this flushes nothing, and the deadline finds it out.
    [[maybe_unused]] const auto failed = channel.pair->fail();
    return;
  }
  channel.failing = true;
  scope_.spawn(fail_on_control(channel));
}

Task<void> VerbsTransport::fail_on_control(VerbsChannel& channel) {
  [[maybe_unused]] const auto failed =
      co_await run_on(port_->control_executor(), fail_pair(channel.pair.get()));
  channel.failing = false;
  channel.failing_ended.notify();
  look_after_channels();
}

void VerbsTransport::look_after_channels() {
  if (phase_ != Phase::kConnected) return;
  for (const auto& channel : channels_) {
    const bool faulty = channel->fault != ChannelFault::kNone && !channel->failing;
    if (!faulty || !channel->drained() || channel->rebuilding) continue;
    // Of a lost rail no queue pair is built anew, but slices end with those that they are on.
    if (!usable() && channel->ordered.empty()) continue;
    channel->rebuilding = true;
    scope_.spawn(rebuild(*channel));
  }
}

Task<void> VerbsTransport::rebuild(VerbsChannel& channel) {
  std::optional<TimePoint> give_up;
  co_await destroy(channel, give_up);
  if (!ended_.empty()) deliver_soon();
  const TimePoint from = channel.built + kRebuildGap;
  if (usable() && clock_.now() < from) co_await pause(from - clock_.now());
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

/// The device tells nothing more of what was posted on the channel, and touches none of it; the
/// peer writes nothing more of what it was told to, where RECVs were flushed before (see
/// drained()). A queue pair that it refuses to destroy for kDestroyTime, since the first refusal of
/// those that share `give_up`, is kept for ever; not while something is posted on it, because then
/// nobody knows what the device still writes (I1).
Task<void> VerbsTransport::destroy(VerbsChannel& channel, std::optional<TimePoint>& give_up) {
  while (channel.failing) co_await channel.failing_ended.wait();
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
    const bool untouched = channel.account.outstanding() == 0 && channel.ordered.empty();
    if (untouched && clock_.now() >= *give_up) {
      keep_for_ever(port_, std::move(channel.pair));
      break;
    }
    co_await pause(kDestroyPause);
  }
  for (const std::uint64_t left : channel.account.abandon()) {
    settle(OpKey::unpack(left), Error(Errc::kFlushed, Stage::kClose, "its queue pair is gone"));
  }
  end_with_pair(channel);
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
  for (const VerbsRequest& request : std::exchange(waiting_orders_, {})) {
    end(request, Error(Errc::kFlushed, Stage::kClose, "the rail was closed"));
  }
  bool fenced = false;
  for (const auto& channel : channels_) {
    if (!channel->ready()) continue;
    give_up_channel(*channel, ChannelFault::kFence);
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
  auto keys = grants_.take_all();
  if (!keys.empty()) {
    co_await shielded(run_on(port_->control_executor(), drop_write_keys(std::move(keys))));
  }
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
