#include "apps/p2p_bench/limit_wire.h"

#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

namespace corail::bench {
namespace {

using Json = nlohmann::json;

void put(std::byte* to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint64_t get(const std::byte* from, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    value |= static_cast<std::uint64_t>(std::to_integer<unsigned>(from[i])) << (8 * i);
  }
  return value;
}

/// Reads one number of the peer's JSON; `fine` turns false when it is not there or does not fit.
template <typename Number>
void read_number(const Json& json, const char* key, Number& target, bool& fine) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned() ||
      found->template get<std::uint64_t>() > std::numeric_limits<Number>::max()) {
    fine = false;
    return;
  }
  target = found->template get<Number>();
}

bool read_shape(const Json& json, Shape& shape) {
  if (!json.is_object()) return false;
  bool fine = true;
  read_number(json, "blocks", shape.blocks, fine);
  read_number(json, "layers", shape.layers, fine);
  read_number(json, "ranks", shape.ranks, fine);
  read_number(json, "segments", shape.segments, fine);
  read_number(json, "segment_bytes", shape.segment_bytes, fine);
  read_number(json, "numa_nodes", shape.numa_nodes, fine);
  read_number(json, "sets", shape.sets, fine);
  read_number(json, "seed", shape.seed, fine);
  const auto layout = json.find("layout");
  if (layout == json.end() || !layout->is_string()) return false;
  const auto placement = placement_of(layout->get<std::string>());
  shape.placement = placement.value_or(Placement::kBump);
  return fine && placement.has_value();
}

}  // namespace

std::string encode_hello(const HolderHello& hello) {
  const Shape& shape = hello.shape;
  const Json json = {{"shape",
                      {{"blocks", shape.blocks},
                       {"layers", shape.layers},
                       {"ranks", shape.ranks},
                       {"segments", shape.segments},
                       {"segment_bytes", shape.segment_bytes},
                       {"numa_nodes", shape.numa_nodes},
                       {"sets", shape.sets},
                       {"seed", shape.seed},
                       {"layout", to_string(shape.placement)}}},
                     {"endpoints", hello.endpoints}};
  return json.dump();
}

std::optional<HolderHello> decode_hello(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("shape") || !json.contains("endpoints")) {
    return std::nullopt;
  }
  HolderHello hello;
  if (!read_shape(json["shape"], hello.shape)) return std::nullopt;
  for (const Json& endpoint : json["endpoints"]) {
    if (!endpoint.is_string()) return std::nullopt;
    hello.endpoints.push_back(endpoint.get<std::string>());
  }
  if (hello.endpoints.empty()) return std::nullopt;
  return hello;
}

std::array<std::byte, kCommandBytes> encode_command(const LimitCommand& command) {
  std::array<std::byte, kCommandBytes> bytes = {};
  put(bytes.data(), command.offset, 8);
  put(bytes.data() + 8, command.length, 8);
  put(bytes.data() + 16, command.set, 4);
  put(bytes.data() + 20, command.call_bytes, 4);
  return bytes;
}

LimitCommand decode_command(const std::array<std::byte, kCommandBytes>& bytes) {
  LimitCommand command;
  command.offset = get(bytes.data(), 8);
  command.length = get(bytes.data() + 8, 8);
  command.set = static_cast<std::uint32_t>(get(bytes.data() + 16, 4));
  command.call_bytes = static_cast<std::uint32_t>(get(bytes.data() + 20, 4));
  return command;
}

Result<HolderHello> greet(const Descriptor& socket, const std::string& address) {
  const Error foreign(Errc::kIncompatible, "what listens on " + address + " is no limit endpoint");
  const auto greeting = std::as_bytes(std::span(kGreeting)).first(kGreetingBytes);
  std::array<std::byte, 4> length_bytes = {};
  if (!send_all(socket, greeting, kGreetingBytes)) return foreign;
  if (!receive_all(socket, length_bytes, length_bytes.size())) return foreign;
  const std::uint64_t length = get(length_bytes.data(), length_bytes.size());
  if (length > kMaxHelloBytes) return foreign;
  std::string text(length, '\0');
  if (!receive_all(socket, std::as_writable_bytes(std::span(text)), kMaxHelloBytes)) return foreign;
  auto hello = decode_hello(text);
  if (!hello) return foreign;
  return std::move(*hello);
}

bool answer_greeting(const Descriptor& socket, const std::string& hello) {
  std::array<std::byte, kGreetingBytes> greeting = {};
  if (!receive_all(socket, greeting, kGreetingBytes)) return false;
  if (std::memcmp(greeting.data(), kGreeting.data(), kGreetingBytes) != 0) return false;
  std::array<std::byte, 4> length = {};
  put(length.data(), hello.size(), length.size());
  return send_all(socket, length, length.size()) &&
         send_all(socket, std::as_bytes(std::span(hello)), hello.size());
}

}  // namespace corail::bench
