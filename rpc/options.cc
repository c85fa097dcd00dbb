#include "rpc/options.h"

#include <fmt/core.h>

#include <array>
#include <string_view>

#include "engine/object/object_descriptor.h"
#include "engine/rail/port.h"
#include "rpc/messages.h"

namespace corail {
namespace {

/// Longer times are mistakes, and would overflow when they are added to the clock.
constexpr std::chrono::hours kMaxDuration{24};

/// Fails as check_options().
Result<void> check_objects(const NodeOptions& options) {
  const NodeObjectOptions& objects = options.objects;
  const bool disks = !objects.directories.empty();
  const auto refuse = [](std::string what) {
    return Error(Errc::kInvalidArgument, Stage::kSetup, std::move(what));
  };
  if (objects.memory_bytes > 0 && disks) {
    return refuse("objects are kept in memory or in directories, not in both; name one");
  }
  if ((objects.memory_bytes > 0 || disks) && options.listen.empty()) {
    return refuse("a node that holds objects must listen: its address is part of what it tells");
  }
  if (!disks) return ok_result();
  if (objects.directories.size() > kMaxObjectDirectories) {
    return refuse(fmt::format("objects may be in at most {} directories", kMaxObjectDirectories));
  }
  if (objects.disk_threads < 1 || objects.disk_threads > kMaxDiskThreads) {
    return refuse(fmt::format("disk_threads must be 1 to {}", kMaxDiskThreads));
  }
  if (objects.staging_buffers < 1 || objects.staging_buffers > kMaxStagingBuffers ||
      objects.staging_buffer_bytes < kGranuleBytes ||
      objects.staging_buffer_bytes > kMaxStagingBufferBytes) {
    return refuse(fmt::format("staging_buffers must be 1 to {}, of {} bytes to {} GiB each",
                              kMaxStagingBuffers, kGranuleBytes, kMaxStagingBufferBytes / kGiB));
  }
  return ok_result();
}

}  // namespace

PortOptions port_options_of(const NodeOptions& options) {
  PortOptions port;
  port.channels_per_rail = options.channels_per_rail;
  port.send_buffer_bytes = options.send_buffer_bytes;
  port.budget_bytes = options.port_budget_bytes;
  port.path_tuning = options.path_tuning;
  port.gid_index = options.gid_index;
  port.max_region_bytes = options.max_region_bytes;
  return port;
}

Result<void> check_options(const NodeOptions& options) {
  const auto need = [](bool fine, std::string_view what) -> Result<void> {
    if (fine) return ok_result();
    return Error(Errc::kInvalidArgument, Stage::kSetup, std::string(what));
  };
  const auto need_time = [&need](Duration time, std::string_view name) {
    return need(time > Duration::zero() && time <= kMaxDuration,
                fmt::format("{} must be more than 0 and at most {} h", name, kMaxDuration.count()));
  };
  const std::array<Result<void>, 15> checks = {
      need(!options.rails.empty() && options.rails.size() <= kMaxRails,
           fmt::format("a node needs 1 to {} rails, such as tcp:127.0.0.1", kMaxRails)),
      need(options.channels_per_rail >= 1 && options.channels_per_rail <= kMaxChannels,
           fmt::format("channels-per-rail must be 1 to {}", kMaxChannels)),
      need(options.max_read_bytes >= 4 * kKiB && options.max_read_bytes <= kGiB,
           "max-read-bytes must be 4 KiB to 1 GiB"),
      need(options.window_bytes >= 4 * kKiB, "window-bytes must be at least 4 KiB"),
      need(options.port_budget_bytes == 0 || options.port_budget_bytes >= 4 * kKiB,
           "port-budget must be at least 4 KiB, or 0 for no bound"),
      check_tuning(options.path_tuning),
      need(options.max_region_bytes == 0 || options.max_region_bytes >= kLeastRegionBytes,
           "max-region-bytes must be at least 1 MiB, or 0 for what the device takes"),
      need(options.spin >= Duration::zero() && options.spin <= kMaxSpin, "spin must be 0 to 1 s"),
      need_time(options.call_deadline, "call-deadline"),
      need_time(options.keep_alive, "keep-alive"),
      need_time(options.fence_deadline, "fence-deadline"),
      need_time(options.lease_ttl, "lease-ttl"),
      need_time(options.lease_margin, "lease-margin"),
      need(options.lease_ttl > options.lease_margin, "the lease must last longer than its margin"),
      check_objects(options),
  };
  for (const auto& check : checks) {
    if (!check) return check;
  }
  return ok_result();
}

}  // namespace corail
