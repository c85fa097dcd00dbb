#include "engine/verbs/verbs_error.h"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

namespace corail {
namespace {

std::string_view advice_on_errno(int error) noexcept {
  switch (error) {
    case ENOMEM:
      return "raise the limit of locked memory (ulimit -l), or use fewer rails or less memory";
    case EPERM:
    case EACCES:
      return "check the rights on /dev/infiniband";
    case ENODEV:
    case EIO:
      return "the device is gone; check the kernel's log";
    case EINVAL:
    case EOPNOTSUPP:
      return "the device does not take what was asked of it; see its limits in ibv_devinfo -v";
    default:
      return "check the kernel's log";
  }
}

}  // namespace

Error verbs_error(Stage stage, std::string_view call, std::string_view device, int error) {
  const Errc code = error == ENOMEM ? Errc::kOutOfMemory : Errc::kRailFailed;
  return Error(code, stage,
               fmt::format("{} on {}: {}; {}", call, device, std::generic_category().message(error),
                           advice_on_errno(error)));
}

}  // namespace corail
