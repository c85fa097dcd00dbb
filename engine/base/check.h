#pragma once

namespace corail {

/// Prints the broken expectation and aborts. For our own invariants only: remote input is rejected
/// with an Error where it is used, never asserted (I5).
[[noreturn]] void check_failed(const char* expression, const char* why, const char* file,
                               int line) noexcept;

}  // namespace corail

/// On in every build: a broken invariant of ours means that memory may be at stake.
#define CORAIL_CHECK(expression, why)                   \
  (static_cast<bool>(expression) ? static_cast<void>(0) \
                                 : ::corail::check_failed(#expression, why, __FILE__, __LINE__))
