#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/error.h"

namespace corail {

/// Who has to act on a completion.
enum class Blame : std::uint8_t {
  kNone,     // success
  kCaller,   // this side asked for something wrong; posted again it would fail again
  kPeer,     // the other side refused: key, range or state
  kPath,     // packets do not get through, or a device is broken
  kFlushed,  // the queue pair had failed, or was given up, before
};

/// What became of one request. Of a failed one a device says nothing else that can be believed. A
/// value.
struct Completion {
  std::uint64_t request = 0;     // as it was posted
  int status = 0;                // ibv_wc_status
  std::uint32_t queue_pair = 0;  // its number
  std::uint32_t vendor_error = 0;
  /// What the peer said with a WRITE that it told us of; of a RECV that succeeded only.
  std::optional<std::uint32_t> immediate{};
};

/// A status that this build does not know is the path's.
Blame blame_of(int status) noexcept;

/// The error of a failed completion: kInvalidArgument for the caller's, kRefused for the peer's,
/// kRailFailed for the path's, kFlushed. It says what to check.
Error error_of(const Completion& completion, std::string_view device);

}  // namespace corail
