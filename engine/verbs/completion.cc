#include "engine/verbs/completion.h"

#include <fmt/core.h>
#include <infiniband/verbs.h>

#include <string>

namespace corail {
namespace {

std::string_view advice_on_status(int status) noexcept {
  switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
      return "the peer's device did not answer: check that both ports are active, that a packet of "
             "the path's MTU gets through in both directions, and raise the timeout";
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return "the peer was not ready in time: check its load";
    case IBV_WC_REM_ACCESS_ERR:
      return "the peer's memory is no longer registered under this key, or the range is not part "
             "of it: ask the holder again";
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
      return "the peer's device does not take such a request: check its limits";
    case IBV_WC_LOC_LEN_ERR:
      return "the request is longer than the device takes";
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
      return "the destination is not registered with this device";
    default:
      return "check the kernel's log on both hosts";
  }
}

Errc code_of(Blame blame) noexcept {
  switch (blame) {
    case Blame::kCaller:
      return Errc::kInvalidArgument;
    case Blame::kPeer:
      return Errc::kRefused;
    case Blame::kFlushed:
      return Errc::kFlushed;
    default:
      return Errc::kRailFailed;
  }
}

}  // namespace

Blame blame_of(int status) noexcept {
  switch (status) {
    case IBV_WC_SUCCESS:
      return Blame::kNone;
    case IBV_WC_WR_FLUSH_ERR:
      return Blame::kFlushed;
    case IBV_WC_LOC_LEN_ERR:
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_LOC_EEC_OP_ERR:
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_MW_BIND_ERR:
      return Blame::kCaller;
    case IBV_WC_BAD_RESP_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
      return Blame::kPeer;
    default:
      return Blame::kPath;
  }
}

Error error_of(const Completion& completion, std::string_view device) {
  const Blame blame = blame_of(completion.status);
  if (blame == Blame::kFlushed) {
    return Error(Errc::kFlushed, Stage::kWait, fmt::format("flushed by {}", device));
  }
  const auto status = static_cast<ibv_wc_status>(completion.status);
  return Error(code_of(blame), Stage::kWait,
               fmt::format("{} on {}, queue pair {} (vendor's error {:#x}): {}",
                           ::ibv_wc_status_str(status), device, completion.queue_pair,
                           completion.vendor_error, advice_on_status(completion.status)));
}

}  // namespace corail
