#include "rpc/port_host.h"

#include <fmt/core.h>

#include <cstring>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/run_on.h"

namespace corail {
namespace {

/// Sessions that wait for the doors: as many as a server has at the most, and more.
constexpr std::size_t kMaxWaitingForDoors = 1024;

Task<Result<void>> open_door(RailDoor* door) { co_return door->open(); }

Task<RailEndpoint> admit_through(RailDoor* door, SessionId session, ChannelToken token,
                                 LeaseGate* gate) {
  co_return door->admit_session(session, token, *gate);
}

Task<Result<std::string>> greet_through(RailDoor* door, SessionId session, std::string words) {
  auto answer = co_await door->greet(session, std::move(words));
  co_return answer;
}

Task<Result<void>> push_through(RailDoor* door, SessionId session, PushOrder order,
                                PinnedBytes bytes, std::function<bool()> cancelled) {
  auto pushed = co_await door->push(session, order, std::move(bytes), std::move(cancelled));
  co_return pushed;
}

Task<void> drop_from(RailDoor* door, SessionId session) { co_await door->drop_session(session); }

Task<void> close_door(std::unique_ptr<RailDoor> door) {
  co_await door->close();
  door.reset();
}

ChannelToken random_token(Random& random) {
  const std::uint64_t words[2] = {random.next(), random.next()};
  ChannelToken token;
  static_assert(sizeof words == sizeof token);
  std::memcpy(token.data(), words, sizeof words);
  return token;
}

}  // namespace

PortHost::PortHost(asio::any_io_executor home, std::span<const std::unique_ptr<Port>> ports,
                   LeaseGate* gate, Random& random)
    : home_(std::move(home)),
      ports_(ports),
      gate_(gate),
      random_(random),
      opening_turn_(home_, 1, kMaxWaitingForDoors) {}

PortHost::~PortHost() {
  CORAIL_CHECK(doors_.empty(), "doors are closed before they are destroyed");
}

Task<Result<void>> PortHost::open() {
  auto turn = co_await opening_turn_.acquire(1);
  if (!turn) co_return std::move(turn).error();
  auto opened = co_await open_doors();
  opening_turn_.release(1);
  co_return opened;
}

Task<Result<void>> PortHost::open_doors() {
  if (open_) co_return ok_result();
  if (closed_) co_return Error(Errc::kClosed, Stage::kConnect, "the node is closing");
  // Others see the doors only when all are open: what they see stays until the node closes.
  std::vector<std::unique_ptr<RailDoor>> made;
  for (const auto& port : ports_) {
    made.push_back(port->make_door());
    auto opened = co_await run_on(port->executor().asio_executor(), open_door(made.back().get()));
    if (opened) continue;
    // What could not be bound may be free the next time.
    co_await close_doors(std::move(made));
    co_return std::move(opened).error().on_rail(port->name());
  }
  doors_ = std::move(made);
  open_ = true;
  co_return ok_result();
}

Task<Result<std::vector<RailEndpoint>>> PortHost::admit(SessionId session) {
  if (gate_ == nullptr) {
    co_return Error(Errc::kNotFound, Stage::kConnect, "this node holds no blocks; give it a store");
  }
  auto opened = co_await open();
  if (!opened) co_return std::move(opened).error();
  // One token for all doors: it opens channels into this session and no other.
  const ChannelToken token = random_token(random_);
  std::vector<RailEndpoint> endpoints;
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    auto endpoint = co_await run_on(ports_[i]->executor().asio_executor(),
                                    admit_through(doors_[i].get(), session, token, gate_));
    endpoints.push_back(std::move(endpoint));
  }
  co_return endpoints;
}

Result<void> PortHost::check_door(std::uint32_t door) const {
  if (door < doors_.size()) return ok_result();
  return Error(Errc::kInvalidArgument,
               fmt::format("there is no door {}, this node has {}", door, doors_.size()));
}

Task<Result<std::string>> PortHost::greet(SessionId session, std::uint32_t door,
                                          std::string words) {
  if (auto checked = check_door(door); !checked) {
    co_return std::move(checked).error().at(Stage::kConnect);
  }
  auto answer = co_await run_on(ports_[door]->executor().asio_executor(),
                                greet_through(doors_[door].get(), session, std::move(words)));
  co_return answer;
}

Task<Result<void>> PortHost::push(SessionId session, std::uint32_t door, PushOrder order,
                                  PinnedBytes bytes, std::function<bool()> cancelled) {
  if (auto checked = check_door(door); !checked) {
    co_return std::move(checked).error().at(Stage::kServe);
  }
  auto pushed = co_await run_on(
      ports_[door]->executor().asio_executor(),
      push_through(doors_[door].get(), session, order, std::move(bytes), std::move(cancelled)));
  co_return pushed;
}

Task<void> PortHost::drop(SessionId session) {
  for (std::size_t i = 0; i < doors_.size(); ++i) {
    co_await run_on(ports_[i]->executor().asio_executor(), drop_from(doors_[i].get(), session));
  }
}

Task<void> PortHost::close() {
  const auto turn = co_await opening_turn_.acquire(1);
  CORAIL_CHECK(turn, "nobody opens doors any more when they are closed");
  closed_ = true;
  auto doors = std::move(doors_);
  doors_.clear();
  co_await close_doors(std::move(doors));
  opening_turn_.release(1);
}

Task<void> PortHost::close_doors(std::vector<std::unique_ptr<RailDoor>> doors) {
  for (std::size_t i = 0; i < doors.size(); ++i) {
    co_await run_on(ports_[i]->executor().asio_executor(), close_door(std::move(doors[i])));
  }
}

}  // namespace corail
