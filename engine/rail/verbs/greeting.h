#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/verbs/device_facts.h"

namespace corail {

/// How long the holder may take to answer a greeting. With kDestroyTime less than kRailCloseTime,
/// because a rail that closes waits for it.
inline constexpr Duration kGreetTime = std::chrono::seconds(3);

/// Queue pairs that one greeting may name, at most (I8).
inline constexpr std::size_t kMaxGreetedPairs = 16;

/// A queue pair as its peer must know it. Both numbers have 24 bits.
struct GreetedPair {
  std::uint32_t number = 0;
  std::uint32_t psn = 0;  // of its first packet

  bool operator==(const GreetedPair&) const = default;
};

/// What either end of a rail says of itself before there are channels. A value; decoded, it has
/// been range-checked.
struct Greeting {
  std::uint64_t rail = 0;        // the asking port, unique in its process: one rail of a session
  std::uint64_t generation = 0;  // grows; what is older than what the door knows is refused
  std::uint8_t first_channel = 0;
  LinkLayer link = LinkLayer::kEthernet;
  std::uint32_t mtu_bytes = 0;
  std::uint16_t lid = 0;
  Gid gid{};
  std::uint8_t reads_sent = 1;      // that it may have under way on one queue pair
  std::uint8_t reads_answered = 1;  // that it answers at a time on one queue pair
  std::vector<GreetedPair> pairs;   // of channels first_channel and on

  bool operator==(const Greeting&) const = default;
};

std::string encode(const Greeting& greeting);

/// Fails with kProtocol for anything that encode() does not make, kIncompatible for another
/// version (I5).
Result<Greeting> decode_greeting(std::string_view bytes);

}  // namespace corail
