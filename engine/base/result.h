#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "engine/base/check.h"
#include "engine/base/error.h"

namespace corail {

/// A value or an Error. Default-constructed it holds Errc::kUnset, because co_spawn needs a default
/// constructible result; nobody should ever see that one.
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result() : state_(std::in_place_index<0>) {}
  Result(T value) : state_(std::in_place_index<1>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<0>, std::move(error)) {}  // NOLINT: implicit

  bool ok() const noexcept { return state_.index() == 1; }
  explicit operator bool() const noexcept { return ok(); }

  /// The value; asking a failed Result for it ends the process (a caller's bug, never remote
  /// input).
  T& value() & {
    CORAIL_CHECK(ok(), "Result::value() of a failure");
    return *std::get_if<1>(&state_);
  }
  const T& value() const& {
    CORAIL_CHECK(ok(), "Result::value() of a failure");
    return *std::get_if<1>(&state_);
  }
  T&& value() && {
    CORAIL_CHECK(ok(), "Result::value() of a failure");
    return std::move(*std::get_if<1>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& {
    CORAIL_CHECK(!ok(), "Result::error() of a success");
    return *std::get_if<0>(&state_);
  }
  Error&& error() && {
    CORAIL_CHECK(!ok(), "Result::error() of a success");
    return std::move(*std::get_if<0>(&state_));
  }

 private:
  std::variant<Error, T> state_;
};

/// Success without a value, or an Error. Default-constructed it is unset, as above;
/// `Result<void>::success()` or `ok_result()` makes a success.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() : error_(Error()) {}
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  static Result success() {
    Result result;
    result.error_.reset();
    return result;
  }

  bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  const Error& error() const& {
    CORAIL_CHECK(!ok(), "Result::error() of a success");
    return *error_;
  }
  Error&& error() && {
    CORAIL_CHECK(!ok(), "Result::error() of a success");
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

inline Result<void> ok_result() { return Result<void>::success(); }

}  // namespace corail
