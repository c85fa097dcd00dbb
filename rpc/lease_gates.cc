#include "rpc/lease_gates.h"

namespace corail {

Result<PinnedBytes> LeaseGates::admit(SessionId session, ReadContext context, RegionId region,
                                      std::uint64_t offset, std::uint64_t length) {
  const bool of_object =
      objects_ != nullptr && (blocks_ == nullptr || objects_->knows(session, context.read));
  if (of_object) return objects_->admit(session, context.read, region, offset, length);
  if (blocks_ != nullptr) return blocks_->admit(session, context.read, region, offset, length);
  return Error(Errc::kRefused, Stage::kServe, "this node holds nothing that could be read");
}

}  // namespace corail
