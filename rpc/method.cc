#include "rpc/method.h"

namespace corail {
namespace {

constexpr std::uint32_t kSmall = 4 * kKiB;

}  // namespace

MethodLimits limits_of(Method method) noexcept {
  switch (method) {
    case Method::kHello:
      return {"Hello", 64 * kKiB, 64 * kKiB, 0};
    case Method::kOpenRails:
      // The answer holds up to kMaxRegions regions with a key for each of 64 ports.
      return {"OpenRails", 64 * kKiB, 4 * kMiB, 0};
    case Method::kGetRegions:
      return {"GetRegions", kSmall, 4 * kMiB, 0};
    case Method::kRegionsChanged:
      return {"RegionsChanged", 0, 0, kSmall};
    case Method::kGoodbye:
      return {"Goodbye", 0, 0, kSmall};
    case Method::kGreetDoor:
      return {"GreetDoor", 2 * kSmall, 2 * kSmall, 0};
    case Method::kQueryBlocksForTransfer:
      // 65,536 hashes of 64 bytes with two bytes of framing each, and the rest.
      return {"QueryBlocksForTransfer", 5 * kMiB, kMaxFrameBytes, 0};
    case Method::kConfirmAndRelease:
      return {"ConfirmAndRelease", kSmall, kSmall, 0};
    case Method::kReleaseLease:
      return {"ReleaseLease", kSmall, kSmall, 0};
    case Method::kQuiesceRead:
      return {"QuiesceRead", kSmall, kSmall, 0};
    case Method::kRenewLease:
      return {"RenewLease", kSmall, kSmall, 0};
    case Method::kConfirmLease:
      return {"ConfirmLease", kSmall, kSmall, 0};
    case Method::kLaneSums:
      // Two times 65,536 sums of 8 bytes, and their framing.
      return {"LaneSums", kSmall, kMiB + kSmall, 0};
    case Method::kLookupObject:
      // 65,536 stripes of at most 30 bytes, and 1024 nodes with 16 addresses of 256 bytes each.
      return {"LookupObject", kSmall, 8 * kMiB, 0};
    case Method::kOpenObject:
      // The numbers of 65,536 stripes; the answer may have 4 Mi granules of 8 bytes.
      return {"OpenObject", kMiB, kMaxFrameBytes, 0};
    case Method::kListObjects:
      // 1024 keys of 1024 bytes, each with two numbers.
      return {"ListObjects", kSmall, 2 * kMiB, 0};
    case Method::kDeleteObject:
      return {"DeleteObject", kSmall, kSmall, 0};
    case Method::kReadStripes:
      return {"ReadStripes", kSmall, kSmall, 0};
    case Method::kBeginPut:
      return {"BeginPut", kSmall, kSmall, 0};
    case Method::kPutStripe:
      return {"PutStripe", kSmall, kSmall, 0};
    case Method::kCommitPut:
      // The descriptor of 65,536 stripes on one node, 32 bytes each at the most.
      return {"CommitPut", kSmall, 4 * kMiB, 0};
    case Method::kAbortPut:
      return {"AbortPut", kSmall, kSmall, 0};
    case Method::kNone:
      break;
  }
  return {"unknown", 64 * kKiB, 0, 64 * kKiB};
}

}  // namespace corail
