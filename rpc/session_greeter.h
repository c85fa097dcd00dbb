#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "engine/exec/run_on.h"
#include "engine/rail/rail_greeter.h"
#include "rpc/session_client.h"

namespace corail {

/// Carries the greetings of rails over the session that their endpoint was told by. Shared by those
/// rails. They are closed before the session is, but for one whose device hangs: what it still asks
/// when the session is gone is refused.
class SessionGreeter final : public RailGreeter {
 public:
  /// What `session` points to is null once the session is gone; home executor only.
  SessionGreeter(asio::any_io_executor home, std::shared_ptr<SessionClient*> session,
                 std::uint32_t door)
      : home_(std::move(home)), session_(std::move(session)), door_(door) {}

  Task<Result<std::string>> greet(std::string words, TimePoint deadline) override {
    auto answer = co_await run_on(home_, ask(session_, door_, std::move(words), deadline));
    co_return answer;
  }

 private:
  static Task<Result<std::string>> ask(std::shared_ptr<SessionClient*> session, std::uint32_t door,
                                       std::string words, TimePoint deadline) {
    if (*session == nullptr) {
      co_return Error(Errc::kClosed, Stage::kConnect, "the session to the holder has ended");
    }
    auto answer = co_await (*session)->greet_door(door, std::move(words), deadline);
    co_return answer;
  }

  const asio::any_io_executor home_;
  const std::shared_ptr<SessionClient*> session_;
  const std::uint32_t door_;
};

}  // namespace corail
