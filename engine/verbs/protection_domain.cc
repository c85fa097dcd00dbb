#include "engine/verbs/protection_domain.h"

#include <cerrno>

#include "engine/verbs/verbs_api.h"
#include "engine/verbs/verbs_error.h"

namespace corail {

Result<std::shared_ptr<const ProtectionDomain>> ProtectionDomain::make(
    std::shared_ptr<const Device> device) {
  ibv_pd* const pd = device->api().alloc_pd(device->handle());
  if (pd == nullptr) return verbs_error(Stage::kSetup, "alloc_pd", device->name(), errno);
  return std::shared_ptr<const ProtectionDomain>(new ProtectionDomain(std::move(device), pd));
}

ProtectionDomain::~ProtectionDomain() { device_->api().dealloc_pd(pd_); }

}  // namespace corail
