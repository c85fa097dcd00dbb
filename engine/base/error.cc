#include "engine/base/error.h"

#include <utility>

namespace corail {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "corail"; }
  std::string message(int value) const override {
    return std::string(to_string(static_cast<Errc>(value)));
  }
};

}  // namespace

ErrorClass error_class(Errc code) noexcept {
  switch (code) {
    case Errc::kUnset:
    case Errc::kInvalidArgument:
    case Errc::kUnknownName:
    case Errc::kLayoutMismatch:
    case Errc::kTooLarge:
    case Errc::kClosed:
      return ErrorClass::kCaller;
    case Errc::kBusy:
    case Errc::kOutOfMemory:
    case Errc::kQuotaExceeded:
    case Errc::kStoreFull:
      return ErrorClass::kBackPressure;
    case Errc::kNotFound:
    case Errc::kGenerationChanged:
    case Errc::kLeaseExpired:
    case Errc::kRefused:
    case Errc::kIncompatible:
    case Errc::kProtocol:
    case Errc::kBadRunTable:
    case Errc::kStoreFailed:
    case Errc::kStripeLost:
      return ErrorClass::kPeer;
    case Errc::kChecksumMismatch:
    case Errc::kByteCountMismatch:
    case Errc::kBadManifest:
      return ErrorClass::kIntegrity;
    case Errc::kConnectFailed:
    case Errc::kConnectionLost:
    case Errc::kRailFailed:
    case Errc::kFlushed:
      return ErrorClass::kTransport;
    case Errc::kCancelled:
      return ErrorClass::kCancelled;
    case Errc::kDeadline:
      return ErrorClass::kDeadline;
    case Errc::kStuck:
      return ErrorClass::kStuck;
  }
  return ErrorClass::kCaller;
}

std::string_view to_string(Errc code) noexcept {
  switch (code) {
    case Errc::kUnset:
      return "no result";
    case Errc::kInvalidArgument:
      return "invalid argument";
    case Errc::kUnknownName:
      return "unknown name";
    case Errc::kLayoutMismatch:
      return "layout mismatch";
    case Errc::kTooLarge:
      return "too large";
    case Errc::kBusy:
      return "busy";
    case Errc::kOutOfMemory:
      return "out of memory";
    case Errc::kQuotaExceeded:
      return "quota exceeded";
    case Errc::kStoreFull:
      return "store full";
    case Errc::kNotFound:
      return "not found";
    case Errc::kGenerationChanged:
      return "generation changed";
    case Errc::kLeaseExpired:
      return "lease expired";
    case Errc::kRefused:
      return "refused by the peer";
    case Errc::kIncompatible:
      return "incompatible peer";
    case Errc::kProtocol:
      return "protocol violation";
    case Errc::kBadRunTable:
      return "invalid run table";
    case Errc::kStoreFailed:
      return "store failed";
    case Errc::kStripeLost:
      return "stripe lost";
    case Errc::kChecksumMismatch:
      return "checksum mismatch";
    case Errc::kByteCountMismatch:
      return "byte count mismatch";
    case Errc::kBadManifest:
      return "invalid manifest";
    case Errc::kConnectFailed:
      return "connect failed";
    case Errc::kConnectionLost:
      return "connection lost";
    case Errc::kRailFailed:
      return "rail failed";
    case Errc::kFlushed:
      return "flushed";
    case Errc::kCancelled:
      return "cancelled";
    case Errc::kDeadline:
      return "deadline exceeded";
    case Errc::kStuck:
      return "stuck";
    case Errc::kClosed:
      return "closed";
  }
  return "unknown error";
}

std::string_view to_string(Stage stage) noexcept {
  switch (stage) {
    case Stage::kNone:
      return "none";
    case Stage::kSetup:
      return "setup";
    case Stage::kConnect:
      return "connect";
    case Stage::kQuery:
      return "query";
    case Stage::kPlan:
      return "plan";
    case Stage::kSubmit:
      return "submit";
    case Stage::kWait:
      return "wait";
    case Stage::kVerify:
      return "verify";
    case Stage::kConfirm:
      return "confirm";
    case Stage::kSeal:
      return "seal";
    case Stage::kServe:
      return "serve";
    case Stage::kClose:
      return "close";
  }
  return "unknown";
}

const std::error_category& corail_category() noexcept {
  static const Category category;
  return category;
}

std::error_code make_error_code(Errc code) noexcept {
  return {static_cast<int>(code), corail_category()};
}

Error Error::at(Stage stage) && {
  if (stage_ == Stage::kNone) stage_ = stage;
  return std::move(*this);
}

Error Error::on_peer(std::string_view peer) && {
  if (peer_.empty()) peer_ = peer;
  return std::move(*this);
}

Error Error::on_rail(std::string_view rail) && {
  if (rail_.empty()) rail_ = rail;
  return std::move(*this);
}

std::string Error::to_string() const {
  std::string text(corail::to_string(code_));
  std::string where;
  const auto add = [&where](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    if (!where.empty()) where += ", ";
    where.append(name).append(" ").append(value);
  };
  if (stage_ != Stage::kNone) add("stage", corail::to_string(stage_));
  add("peer", peer_);
  add("rail", rail_);
  if (!where.empty()) text.append(" (").append(where).append(")");
  if (!detail_.empty()) text.append(": ").append(detail_);
  return text;
}

}  // namespace corail
