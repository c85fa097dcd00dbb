#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/result.h"
#include "rpc/call.h"

namespace corail {

/// For calls whose answer is one message: decodes it from the read buffer, where it came.
template <typename T>
class DecodeSink final : public AnswerSink {
 public:
  using Decode = std::function<Result<T>(std::span<const std::byte> body)>;
  explicit DecodeSink(Decode decode) : decode_(std::move(decode)) {}

  Result<void> on_part(std::span<const std::byte> body, bool last) override {
    if (!last) return Error(Errc::kProtocol, "the peer streams an answer that has one part only");
    auto decoded = decode_(body);
    if (!decoded.ok()) return std::move(decoded).error();
    value_.emplace(std::move(*decoded));
    return ok_result();
  }

  /// After the call has succeeded.
  T take() { return std::move(*value_); }

 private:
  const Decode decode_;
  std::optional<T> value_;
};

/// For calls whose answer says nothing but yes.
class EmptySink final : public AnswerSink {
 public:
  Result<void> on_part(std::span<const std::byte>, bool last) override {
    if (last) return ok_result();
    return Error(Errc::kProtocol, "the peer streams an answer that has one part only");
  }
};

}  // namespace corail
