#include <string>
#include <utility>

#include "engine/rail/greeting_limit.h"
#include "proto/corail/v1/rails.pb.h"
#include "rpc/codec.h"
#include "rpc/codec_fields.h"

namespace corail {
namespace {

constexpr std::string_view kRequest = "GreetDoorRequest";
constexpr std::string_view kAnswer = "GreetDoorAnswer";

}  // namespace

FrameBuffer encode_greet_door(std::uint32_t door, std::string_view words) {
  v1::GreetDoorRequest message;
  message.set_door(door);
  message.set_words(words.data(), words.size());
  return codec::to_frame(message);
}

Result<GreetDoorRequest> decode_greet_door(std::span<const std::byte> body) {
  v1::GreetDoorRequest message;
  const auto parsed = codec::parse(kRequest, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.door() >= kMaxRails) {
    return codec::field_error(kRequest, "door", "is {}, a node has at most {}", message.door(),
                              kMaxRails);
  }
  const auto fits =
      codec::check_length(kRequest, "words", message.words().size(), kMaxGreetingBytes);
  if (!fits.ok()) return fits.error();
  GreetDoorRequest request;
  request.door = message.door();
  request.words = std::move(*message.mutable_words());
  return request;
}

FrameBuffer encode_greet_door_answer(std::string_view words) {
  v1::GreetDoorAnswer message;
  message.set_words(words.data(), words.size());
  return codec::to_frame(message);
}

Result<std::string> decode_greet_door_answer(std::span<const std::byte> body) {
  v1::GreetDoorAnswer message;
  const auto parsed = codec::parse(kAnswer, body, message);
  if (!parsed.ok()) return parsed.error();
  const auto fits =
      codec::check_length(kAnswer, "words", message.words().size(), kMaxGreetingBytes);
  if (!fits.ok()) return fits.error();
  return std::move(*message.mutable_words());
}

}  // namespace corail
