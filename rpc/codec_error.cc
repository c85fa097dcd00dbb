#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "proto/corail/v1/error.pb.h"
#include "rpc/codec.h"
#include "rpc/codec_fields.h"
#include "rpc/printable.h"

namespace corail {
namespace {

/// The codes that may travel. Transport and integrity errors may not: what this side's rails and
/// checksums say is for this side to find out.
constexpr std::array<std::pair<Errc, v1::ErrorCode>, 21> kCodes = {{
    {Errc::kInvalidArgument, v1::INVALID_ARGUMENT},
    {Errc::kUnknownName, v1::UNKNOWN_NAME},
    {Errc::kLayoutMismatch, v1::LAYOUT_MISMATCH},
    {Errc::kTooLarge, v1::TOO_LARGE},
    {Errc::kBusy, v1::BUSY},
    {Errc::kOutOfMemory, v1::OUT_OF_MEMORY},
    {Errc::kQuotaExceeded, v1::QUOTA_EXCEEDED},
    {Errc::kStoreFull, v1::STORE_FULL},
    {Errc::kNotFound, v1::NOT_FOUND},
    {Errc::kGenerationChanged, v1::GENERATION_CHANGED},
    {Errc::kLeaseExpired, v1::LEASE_EXPIRED},
    {Errc::kRefused, v1::REFUSED},
    {Errc::kIncompatible, v1::INCOMPATIBLE},
    {Errc::kProtocol, v1::PROTOCOL},
    {Errc::kBadRunTable, v1::BAD_RUN_TABLE},
    {Errc::kStoreFailed, v1::STORE_FAILED},
    {Errc::kStripeLost, v1::STRIPE_LOST},
    {Errc::kCancelled, v1::CANCELLED},
    {Errc::kDeadline, v1::DEADLINE},
    {Errc::kStuck, v1::STUCK},
    {Errc::kClosed, v1::CLOSED},
}};

v1::ErrorCode to_wire(Errc code) {
  const auto* const found = std::find_if(kCodes.begin(), kCodes.end(),
                                         [code](const auto& pair) { return pair.first == code; });
  return found == kCodes.end() ? v1::REFUSED : found->second;
}

Errc from_wire(v1::ErrorCode code) {
  const auto* const found = std::find_if(kCodes.begin(), kCodes.end(),
                                         [code](const auto& pair) { return pair.second == code; });
  return found == kCodes.end() ? Errc::kRefused : found->first;
}

/// The enumerators of both are in the same order, which the static assertions hold.
static_assert(static_cast<int>(Stage::kNone) == v1::ERROR_STAGE_UNSPECIFIED);
static_assert(static_cast<int>(Stage::kSetup) == v1::SETUP);
static_assert(static_cast<int>(Stage::kQuery) == v1::QUERY);
static_assert(static_cast<int>(Stage::kVerify) == v1::VERIFY);
static_assert(static_cast<int>(Stage::kClose) == v1::CLOSE);

Stage from_wire(v1::ErrorStage stage) {
  return v1::ErrorStage_IsValid(stage) ? static_cast<Stage>(stage) : Stage::kNone;
}

}  // namespace

FrameBuffer encode_error(const Error& error) {
  v1::ErrorInfo info;
  info.set_code(to_wire(error.code()));
  info.set_detail(printable(error.detail()).substr(0, kMaxErrorDetailBytes));
  info.set_stage(static_cast<v1::ErrorStage>(error.stage()));
  return codec::to_frame(info);
}

Error decode_error(std::span<const std::byte> body) {
  v1::ErrorInfo info;
  if (!codec::parse("ErrorInfo", body, info).ok()) {
    return Error(Errc::kRefused, "the peer refused with an error that cannot be read");
  }
  std::string detail = printable(info.detail()).substr(0, kMaxErrorDetailBytes);
  return Error(from_wire(info.code()), from_wire(info.stage()), std::move(detail));
}

}  // namespace corail
