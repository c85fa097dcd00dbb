// How a rail connects, is rebuilt and closes.

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "engine/base/log.h"
#include "engine/rail/rail.h"
#include "engine/rail/rail_attachment.h"

namespace corail {
namespace {

/// Each turn is bounded (Rail::try_connect), so the wait for one is.
constexpr TimePoint kNoDeadline = TimePoint::max();

Error closed_error() { return Error(Errc::kClosed, Stage::kConnect, "the rail was closed"); }
Error port_down() {
  return Error(Errc::kConnectionLost, Stage::kWait, "the local port is down; check its cable");
}

}  // namespace

Task<Result<void>> Rail::connect(RailEndpoint remote, TimePoint deadline) {
  remote_ = std::move(remote);
  if (options_.port != nullptr) options_.port->add_listener(*this);
  auto connected = co_await try_connect(deadline);
  if (!connected) lost_ = true;
  if (make_transport_ && !closing_) {
    living_ = true;
    scope_.spawn(live());
  }
  if (!connected) co_return std::move(connected).error().at(Stage::kConnect).on_rail(name_);
  co_return ok_result();
}

Task<Result<void>> Rail::try_connect(TimePoint deadline) {
  auto turn = co_await take_turn(deadline);
  if (!turn) co_return turn;
  if (!port_active()) {
    turn_.reset();
    co_return port_down();
  }
  const TimePoint begin = clock_.now();
  const std::uint64_t generation = health_.begin(begin);
  lost_ = false;
  condemned_ = false;
  tell(RailState::kConnecting, "it is connecting");
  transport_->when_lost([self = self_](const Error& why) {
    if (*self != nullptr) (*self)->transport_lost(why);
  });
  // The rail's own time begins with its turn: how long it waited for the others is not its path's
  // doing.
  const TimePoint own_deadline = begin + options_.reconnect_time;
  auto connected = co_await transport_->connect(remote_, std::min(deadline, own_deadline));
  turn_.reset();
  if (closing_) co_return closed_error();
  if (connected) connected = check_connected();
  if (!connected) {
    book_failed_connect(connected.error(), own_deadline <= deadline);
    co_return connected;
  }
  health_.connected(generation);
  if (!known()) {
    capabilities_ = transport_->capabilities();
    posted_.reserve(capabilities_.max_slices);
    known_.store(true, std::memory_order_release);
  }
  tell(RailState::kReady, "");
  co_return ok_result();
}

void Rail::book_failed_connect(const Error& error, bool had_its_time) {
  // No answer is the path's fault only where it had its time.
  const bool silent = error.error_class() == ErrorClass::kDeadline && had_its_time;
  if (silent || error.error_class() == ErrorClass::kTransport) {
    health_.fault(health_.generation(), clock_.now());
  } else {
    health_.excuse(health_.generation());
  }
  tell(RailState::kClosed, "it could not connect: " + error.to_string());
}

Result<void> Rail::check_connected() const {
  if (!port_active()) return port_down();
  // Lost or condemned since it has begun to connect.
  if (lost_ || !usable()) {
    return Error(Errc::kConnectionLost, Stage::kConnect, "it was lost as soon as it was there");
  }
  // Running reads rely on them, and any thread may look.
  if (!known() || transport_->capabilities() == capabilities_) return ok_result();
  return Error(Errc::kIncompatible, Stage::kConnect,
               "the rail came back with other capabilities; connect to the node again");
}

Task<Result<void>> Rail::take_turn(TimePoint deadline) {
  if (options_.connects == nullptr) co_return ok_result();
  if (turn_ == nullptr) {
    // Its own flag for each turn: one that was given up may still be on its way here.
    granted_ = std::make_shared<bool>(false);
    ConnectRequest who;
    who.peer = options_.connects_peer;
    who.failed_before = health_.failed_to_connect();
    turn_ =
        options_.connects->ask(who, [executor = executor_, granted = granted_, wake = wake_life()] {
          asio::post(executor, [granted, wake] {
            *granted = true;
            wake();
          });
        });
  }
  if (deadline != kNoDeadline) {
    rest_timer_->wait_until(deadline, [wake = wake_life()](bool) { wake(); });
  }
  while (!*granted_ && !closing_ && clock_.now() < deadline) co_await life_changed_.wait();
  rest_timer_->cancel();
  if (closing_) {
    turn_.reset();
    co_return closed_error();
  }
  if (*granted_) co_return ok_result();
  // The place in the queue is kept, for the next try.
  co_return Error(Errc::kDeadline, Stage::kConnect,
                  "too many other rails of this node were connecting all the time; check that "
                  "their peers run");
}

Task<void> Rail::live() {
  while (!closing_) {
    while (!closing_ && !lost_) co_await life_changed_.wait();
    // Shares that are still attached have slices on the old transport.
    while (!closing_ && !attachments_.empty()) co_await life_changed_.wait();
    if (closing_) break;
    co_await rebuild();
  }
  living_ = false;
  close_changed_.notify();
}

Task<void> Rail::rebuild() {
  while (!closing_) {
    start_closing_transport();
    while (!closing_ && !transport_closed_) co_await life_changed_.wait();
    if (closing_) co_return;
    transport_.reset();
    tell(RailState::kClosed, status().why);
    co_await rest();
    if (closing_) co_return;
    transport_ = make_transport_();
    transport_closing_ = false;
    transport_closed_ = false;
    const auto connected = co_await try_connect(kNoDeadline);
    if (!connected) continue;
    log(LogLevel::kInfo, "rail {} is back", name_);
    co_return;
  }
}

Task<void> Rail::rest() {
  while (!closing_) {
    // A port that is down keeps no place among those that connect.
    if (!port_active()) turn_.reset();
    const TimePoint until = health_.may_begin_at();
    if (port_active() && clock_.now() >= until) co_return;
    if (port_active()) rest_timer_->wait_until(until, [wake = wake_life()](bool) { wake(); });
    co_await life_changed_.wait();
  }
}

std::function<void()> Rail::wake_life() const {
  return [self = self_] {
    if (*self != nullptr) (*self)->life_changed_.notify();
  };
}

bool Rail::port_active() const noexcept {
  return options_.port == nullptr || options_.port->active();
}

void Rail::port_changed() {
  if (port_active()) {
    health_.port_returned(clock_.now());
  } else {
    health_.excuse(health_.generation());
    condemn(port_down());
  }
  life_changed_.notify();
}

void Rail::start_closing_transport() {
  if (transport_ == nullptr || std::exchange(transport_closing_, true)) return;
  scope_.spawn(close_transport());
}

Task<void> Rail::close_transport() {
  co_await transport_->close();
  transport_closed_ = true;
  life_changed_.notify();
  close_changed_.notify();
}

void Rail::begin_close() {
  if (std::exchange(closing_, true)) return;
  tell(RailState::kClosed, "it was closed");
  turn_.reset();
  start_closing_transport();
  life_changed_.notify();
}

Task<Result<void>> Rail::close() {
  begin_close();
  bool expired = false;
  const auto timer = clock_.make_timer(executor_);
  timer->wait_until(clock_.now() + kRailCloseTime, [this, &expired](bool) {
    expired = true;
    close_changed_.notify();
  });
  const auto closed = [this] { return !living_ && (transport_ == nullptr || transport_closed_); };
  while (!closed() && !expired) co_await close_changed_.wait();
  if (!closed()) {
    co_return Error(
        Errc::kStuck, Stage::kClose,
        fmt::format("the rail's device has not closed it within {} s; check the device, and "
                    "restart this process to have its memory back",
                    std::chrono::duration_cast<std::chrono::seconds>(kRailCloseTime).count()))
        .on_rail(name_);
  }
  co_await scope_.join();
  co_return ok_result();
}

}  // namespace corail
