#include <algorithm>
#include <string>
#include <utility>

#include "proto/corail/v1/hello.pb.h"
#include "rpc/codec.h"
#include "rpc/codec_fields.h"
#include "rpc/printable.h"

namespace corail {
namespace {

constexpr std::string_view kRequest = "HelloRequest";
constexpr std::string_view kAnswer = "HelloAnswer";

template <typename Message>
void put_identity(const NodeIdentity& identity, Message& message) {
  message.set_node_id(identity.node.value());
  message.set_boot_id(identity.boot.value());
  message.set_node_name(printable(identity.name).substr(0, kMaxNodeNameBytes));
}

template <typename Message>
Result<NodeIdentity> take_identity(std::string_view name, const Message& message) {
  const auto fits =
      codec::check_length(name, "node_name", message.node_name().size(), kMaxNodeNameBytes);
  if (!fits.ok()) return fits.error();
  NodeIdentity identity;
  identity.node = NodeId(message.node_id());
  identity.boot = BootId(message.boot_id());
  identity.name = printable(message.node_name());
  return identity;
}

Result<void> check_methods(const v1::HelloRequest& message) {
  if (static_cast<std::size_t>(message.auth_methods_size()) > kMaxAuthMethods) {
    return codec::field_error(kRequest, "auth_methods",
                              "names {} methods, more than the {} allowed",
                              message.auth_methods_size(), kMaxAuthMethods);
  }
  for (const std::string& method : message.auth_methods()) {
    const auto fits =
        codec::check_length(kRequest, "auth_methods", method.size(), kMaxAuthMethodBytes);
    if (!fits.ok()) return fits;
  }
  return codec::check_length(kRequest, "auth_bytes", message.auth_bytes().size(), kMaxAuthBytes);
}

Result<HelloStep> take_step(const v1::HelloAnswer& message, const HelloRequest& asked) {
  const bool shares = (asked.features & kFeatureTwoWay) != 0 && !asked.separate;
  switch (message.step()) {
    case v1::DONE:
      return HelloStep::kDone;
    case v1::AUTHENTICATE:
      return HelloStep::kAuthenticate;
    case v1::ALREADY_CONNECTED:
      if (shares) return HelloStep::kAlreadyConnected;
      return codec::field_error(kAnswer, "step", "is ALREADY_CONNECTED, which was not allowed");
    default:
      return codec::field_error(kAnswer, "step", "is {}, which is unknown",
                                static_cast<int>(message.step()));
  }
}

}  // namespace

FrameBuffer encode_hello(const HelloRequest& hello) {
  v1::HelloRequest message;
  message.set_protocol_min(hello.protocol_min);
  message.set_protocol_max(hello.protocol_max);
  message.set_features(hello.features);
  put_identity(hello.identity, message);
  message.set_service(static_cast<v1::Service>(hello.service));
  for (const std::string& method : hello.auth_methods) message.add_auth_methods(method);
  message.set_auth_bytes(hello.auth_bytes);
  message.set_separate(hello.separate);
  return codec::to_frame(message);
}

Result<HelloRequest> decode_hello(std::span<const std::byte> body) {
  v1::HelloRequest message;
  const auto parsed = codec::parse(kRequest, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.protocol_min() < 1 || message.protocol_min() > message.protocol_max()) {
    return codec::field_error(kRequest, "protocol_min",
                              "is {} and protocol_max {}, which is no range",
                              message.protocol_min(), message.protocol_max());
  }
  if (message.service() != v1::BLOCKS) {
    return Error(Errc::kIncompatible,
                 fmt::format("service {} was asked for, which this node does not offer",
                             static_cast<int>(message.service())));
  }
  auto identity = take_identity(kRequest, message);
  if (!identity.ok()) return std::move(identity).error();
  const auto methods = check_methods(message);
  if (!methods.ok()) return methods.error();

  HelloRequest hello;
  hello.protocol_min = message.protocol_min();
  hello.protocol_max = message.protocol_max();
  hello.features = message.features();
  hello.identity = std::move(*identity);
  hello.service = Service::kBlocks;
  hello.auth_methods.assign(message.auth_methods().begin(), message.auth_methods().end());
  hello.auth_bytes = message.auth_bytes();
  hello.separate = message.separate();
  return hello;
}

FrameBuffer encode_hello_answer(const HelloAnswer& answer) {
  v1::HelloAnswer message;
  message.set_protocol_version(answer.protocol_version);
  message.set_features(answer.features);
  put_identity(answer.identity, message);
  message.set_step(static_cast<v1::HelloStep>(answer.step));
  message.set_auth_method(answer.auth_method);
  message.set_auth_bytes(answer.auth_bytes);
  return codec::to_frame(message);
}

Result<HelloAnswer> decode_hello_answer(std::span<const std::byte> body,
                                        const HelloRequest& asked) {
  v1::HelloAnswer message;
  const auto parsed = codec::parse(kAnswer, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.protocol_version() < asked.protocol_min ||
      message.protocol_version() > asked.protocol_max) {
    return codec::field_error(kAnswer, "protocol_version", "is {}, outside of {} to {} asked for",
                              message.protocol_version(), asked.protocol_min, asked.protocol_max);
  }
  if ((message.features() & ~asked.features) != 0) {
    return codec::field_error(kAnswer, "features", "has bits {:#x} that were not asked for",
                              message.features() & ~asked.features);
  }
  const auto step = take_step(message, asked);
  if (!step.ok()) return step.error();
  const auto& methods = asked.auth_methods;
  if (std::find(methods.begin(), methods.end(), message.auth_method()) == methods.end()) {
    return codec::field_error(kAnswer, "auth_method", "is '{}', which was not offered",
                              printable(message.auth_method()).substr(0, kMaxAuthMethodBytes));
  }
  const auto fits =
      codec::check_length(kAnswer, "auth_bytes", message.auth_bytes().size(), kMaxAuthBytes);
  if (!fits.ok()) return fits.error();
  auto identity = take_identity(kAnswer, message);
  if (!identity.ok()) return std::move(identity).error();

  HelloAnswer answer;
  answer.protocol_version = message.protocol_version();
  answer.features = message.features();
  answer.identity = std::move(*identity);
  answer.step = *step;
  answer.auth_method = message.auth_method();
  answer.auth_bytes = message.auth_bytes();
  return answer;
}

FrameBuffer encode_goodbye(GoodbyeReason reason) {
  v1::Goodbye message;
  message.set_reason(static_cast<v1::GoodbyeReason>(reason));
  return codec::to_frame(message);
}

Result<GoodbyeReason> decode_goodbye(std::span<const std::byte> body) {
  v1::Goodbye message;
  const auto parsed = codec::parse("Goodbye", body, message);
  if (!parsed.ok()) return parsed.error();
  if (!v1::GoodbyeReason_IsValid(message.reason())) return GoodbyeReason::kUnknown;
  return static_cast<GoodbyeReason>(message.reason());
}

}  // namespace corail
