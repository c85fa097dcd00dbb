#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/exec/run_on.h"
#include "engine/rail/rail_greeter.h"
#include "rpc/session_client.h"

namespace corail {

/// Carries the greetings of rails over the session that their endpoint was told by. Shared by those
/// rails, which are closed before the session is; from then on nobody calls it.
class SessionGreeter final : public RailGreeter {
 public:
  SessionGreeter(asio::any_io_executor home, SessionClient& session, std::uint32_t door)
      : home_(std::move(home)), session_(session), door_(door) {}

  Task<Result<std::string>> greet(std::string words, TimePoint deadline) override {
    auto answer = co_await run_on(home_, session_.greet_door(door_, std::move(words), deadline));
    co_return answer;
  }

 private:
  const asio::any_io_executor home_;
  SessionClient& session_;
  const std::uint32_t door_;
};

}  // namespace corail
