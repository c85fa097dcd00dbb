#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_shape.h"
#include "apps/p2p_bench/raw_socket.h"

namespace corail::bench {

/// The little protocol of the holder's limit endpoint. A connection starts with the requester's
/// greeting, which is answered by a length (4 bytes) and as many bytes of JSON. Then the requester
/// sends commands of 24 bytes, each answered by exactly the bytes that it asks for. Numbers are
/// little-endian. A holder closes a connection whose greeting or command makes no sense.

inline constexpr std::size_t kGreetingBytes = 16;
inline constexpr std::array<char, kGreetingBytes + 1> kGreeting = {"corail-limit-1\r\n"};
inline constexpr std::size_t kCommandBytes = 24;
/// The longest JSON of a greeting's answer (I8).
inline constexpr std::uint32_t kMaxHelloBytes = 64 * 1024;
/// The most bytes of one send or receive call that can be asked for (I8).
inline constexpr std::uint64_t kMaxCallBytes = 64 * kMiB;
/// A limit connection on which nothing moves for so long is given up.
inline constexpr Duration kStallLimit = std::chrono::seconds(30);

/// What a holder says about itself.
struct HolderHello {
  Shape shape;
  std::vector<std::string> endpoints;  // where to connect to, one per rail of the holder
};

/// Send bytes [offset, offset + length) of a set, in calls of `call_bytes`.
struct LimitCommand {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::uint32_t set = 0;
  std::uint32_t call_bytes = 0;
};

std::string encode_hello(const HolderHello& hello);
/// Nothing when the text is no hello of ours. The shape inside is unchecked.
std::optional<HolderHello> decode_hello(const std::string& text);

std::array<std::byte, kCommandBytes> encode_command(const LimitCommand& command);
LimitCommand decode_command(const std::array<std::byte, kCommandBytes>& bytes);

/// Requester: greets and reads the answer. Fails with kIncompatible when something else answers.
Result<HolderHello> greet(const Descriptor& socket, const std::string& address);

/// Holder: reads the greeting and answers it. False: close the connection.
bool answer_greeting(const Descriptor& socket, const std::string& hello);

}  // namespace corail::bench
