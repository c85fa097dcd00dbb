#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace corail {

class PushCourier;
class RailGreeter;

/// 128 random bits that open a data channel into one session.
using ChannelToken = std::array<std::uint8_t, 16>;

/// Where and how a holder's port accepts the channels of one rail, as told in OpenRails. A value.
struct RailEndpoint {
  std::string transport;   // "tcp", "verbs", "mock"
  std::string address;     // tcp: numeric address; verbs: GID or LID in text
  std::uint16_t port = 0;  // tcp: port number
  ChannelToken token{};
  std::shared_ptr<RailGreeter> greeter{};  // not told: added by the session that was told the rest
  std::shared_ptr<PushCourier> courier{};  // likewise; null where the peer writes nothing by itself
};

}  // namespace corail
