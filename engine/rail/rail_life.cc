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

Error closed_error() { return Error(Errc::kClosed, Stage::kConnect, "the rail was closed"); }
Error port_down() {
  return Error(Errc::kConnectionLost, Stage::kWait, "the local port is down; check its cable");
}

}  // namespace

Task<Result<void>> Rail::connect(RailEndpoint remote, TimePoint deadline) {
  remote_ = std::move(remote);
  auto connected = co_await try_connect(deadline);
  if (!connected) co_return std::move(connected).error().at(Stage::kConnect).on_rail(name_);
  if (make_transport_ && !closing_) {
    living_ = true;
    scope_.spawn(live());
  }
  co_return ok_result();
}

Task<Result<void>> Rail::try_connect(TimePoint deadline) {
  auto turn = co_await take_turn(deadline);
  if (!turn) co_return turn;
  const std::uint64_t generation = health_.begin(clock_.now());
  lost_ = false;
  condemned_ = false;
  tell(RailState::kConnecting, "it is connecting");
  transport_->when_lost([self = self_](const Error& why) {
    if (*self != nullptr) (*self)->transport_lost(why);
  });
  auto connected = co_await transport_->connect(remote_, deadline);
  turn_.reset();
  if (closing_) co_return closed_error();
  if (connected) connected = check_connected();
  if (!connected) {
    const Error& error = connected.error();
    // Nobody but this rail waited so long: no answer in that time is the path's fault.
    const bool path = error.error_class() == ErrorClass::kTransport ||
                      error.error_class() == ErrorClass::kDeadline;
    if (path) {
      health_.fault(generation, clock_.now());
    } else {
      health_.excuse(generation);
    }
    tell(RailState::kClosed, "it could not connect: " + error.to_string());
    co_return connected;
  }
  health_.connected(generation);
  if (generation == 1) {
    capabilities_ = transport_->capabilities();
    posted_.reserve(capabilities_.max_slices);
  }
  tell(RailState::kReady, "");
  co_return ok_result();
}

Result<void> Rail::check_connected() const {
  if (!port_active()) return port_down();
  // Lost or condemned since it has begun to connect.
  if (lost_ || !usable()) {
    return Error(Errc::kConnectionLost, Stage::kConnect, "it was lost as soon as it was there");
  }
  // Running reads rely on them, and any thread may look.
  if (health_.generation() == 1 || transport_->capabilities() == capabilities_) return ok_result();
  return Error(Errc::kIncompatible, Stage::kConnect,
               "the rail came back with other capabilities; connect to the node again");
}

Task<Result<void>> Rail::take_turn(TimePoint deadline) {
  if (options_.connects == nullptr) co_return ok_result();
  // Its own flag for each turn: one that was given up may still be on its way here.
  const auto granted = std::make_shared<bool>(false);
  turn_ = options_.connects->ask([executor = executor_, granted, wake = wake_life()] {
    asio::post(executor, [granted, wake] {
      *granted = true;
      wake();
    });
  });
  rest_timer_->wait_until(deadline, [wake = wake_life()](bool) { wake(); });
  while (!*granted && !closing_ && clock_.now() < deadline) co_await life_changed_.wait();
  rest_timer_->cancel();
  if (*granted && !closing_) co_return ok_result();
  turn_.reset();
  if (closing_) co_return closed_error();
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
    const auto connected = co_await try_connect(clock_.now() + options_.reconnect_time);
    if (!connected) continue;
    log(LogLevel::kInfo, "rail {} is back", name_);
    co_return;
  }
}

Task<void> Rail::rest() {
  while (!closing_) {
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
