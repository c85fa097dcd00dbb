#include "engine/verbs/path_settings.h"

#include <fmt/core.h>

#include <string_view>

namespace corail {
namespace {

Result<void> in_range(std::string_view name, unsigned value, unsigned least, unsigned most) {
  if (value >= least && value <= most) return ok_result();
  return Error(Errc::kInvalidArgument, Stage::kSetup,
               fmt::format("{} {} is not possible, {} to {} are", name, value, least, most));
}

}  // namespace

Result<void> check_tuning(const PathTuning& tuning) {
  auto checked = in_range("service-level", tuning.service_level, 0, kMaxServiceLevel);
  if (checked) checked = in_range("ack-timeout", tuning.timeout, 1, kMaxAckTimeout);
  if (checked) checked = in_range("retry-count", tuning.retries, 0, kMaxRetries);
  if (checked) checked = in_range("rnr-retry", tuning.rnr_retries, 0, kMaxRetries);
  return checked;
}

}  // namespace corail
