#pragma once

#include <string>
#include <string_view>
#include <system_error>

namespace corail {

/// What went wrong, in the words of the safety contract. The class (error_class) decides who has to
/// act.
enum class Errc {
  kUnset = 1,  // a default-constructed Result that nobody filled
  // The caller's fault.
  kInvalidArgument,
  kUnknownName,
  kLayoutMismatch,
  kTooLarge,
  // Back-pressure.
  kBusy,
  kOutOfMemory,
  kQuotaExceeded,
  kStoreFull,
  // The peer's answer, or that of a store.
  kNotFound,
  kGenerationChanged,
  kLeaseExpired,
  kRefused,
  kIncompatible,
  kProtocol,
  kBadRunTable,
  kStoreFailed,
  kStripeLost,
  // Integrity.
  kChecksumMismatch,
  kByteCountMismatch,
  kBadManifest,
  // Transport.
  kConnectFailed,
  kConnectionLost,
  kRailFailed,
  kFlushed,
  // The rest.
  kCancelled,
  kDeadline,
  kStuck,
  kClosed,
};

/// Who must act on an error. Only kTransport ever touches a rail's health.
enum class ErrorClass {
  kCaller,
  kBackPressure,
  kPeer,
  kIntegrity,
  kTransport,
  kCancelled,
  kDeadline,
  kStuck,
};

/// Where in an operation an error arose.
enum class Stage {
  kNone,
  kSetup,
  kConnect,
  kQuery,
  kPlan,
  kSubmit,
  kWait,
  kVerify,
  kConfirm,
  kSeal,
  kServe,
  kClose
};

ErrorClass error_class(Errc code) noexcept;
std::string_view to_string(Errc code) noexcept;
std::string_view to_string(Stage stage) noexcept;

const std::error_category& corail_category() noexcept;
std::error_code make_error_code(Errc code) noexcept;

/// One failure, complete enough for a person to act: what happened, where, and what to check.
///
/// `detail` is a sentence; `peer` and `rail` may be empty. A value type; movable between threads.
class Error {
 public:
  Error() = default;
  Error(Errc code, std::string detail) : code_(code), detail_(std::move(detail)) {}
  Error(Errc code, Stage stage, std::string detail)
      : code_(code), stage_(stage), detail_(std::move(detail)) {}

  /// Adds what an outer layer knows. A field that is already set is kept: the inner layer was
  /// nearer.
  [[nodiscard]] Error at(Stage stage) &&;
  [[nodiscard]] Error on_peer(std::string_view peer) &&;
  [[nodiscard]] Error on_rail(std::string_view rail) &&;

  Errc code() const noexcept { return code_; }
  ErrorClass error_class() const noexcept { return corail::error_class(code_); }
  Stage stage() const noexcept { return stage_; }
  const std::string& detail() const noexcept { return detail_; }
  const std::string& peer() const noexcept { return peer_; }
  const std::string& rail() const noexcept { return rail_; }
  std::error_code error_code() const noexcept { return make_error_code(code_); }

  /// One line: "<what> (stage S, peer P, rail R): <detail>".
  std::string to_string() const;

 private:
  Errc code_ = Errc::kUnset;
  Stage stage_ = Stage::kNone;
  std::string detail_;
  std::string peer_;
  std::string rail_;
};

}  // namespace corail

template <>
struct std::is_error_code_enum<corail::Errc> : std::true_type {};
