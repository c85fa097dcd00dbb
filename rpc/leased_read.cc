#include "rpc/leased_read.h"

#include <cstddef>

#include "rpc/rail_keys.h"

namespace corail {

void take_rails(ReadRequest& request, const RailSet& rails, const RegionTable* regions) {
  for (const auto& rail : rails.rails()) {
    const std::size_t port = rails.remote_of(request.rails.size());
    request.rails.push_back(rail.get());
    if (regions != nullptr) request.region_keys.push_back(keys_of_port(*regions, port));
  }
}

Result<void> blame_lease(Result<void> result, TimePoint usable_until, TimePoint deadline) {
  const bool lapsed = !result.ok() && result.error().code() == Errc::kDeadline;
  if (!lapsed || usable_until >= deadline) return result;
  return Error(Errc::kLeaseExpired, result.error().stage(),
               "the lease ended before the read had; it could not be renewed: look at the control "
               "connection to the holder, or ask for longer leases (lease_ttl)");
}

}  // namespace corail
