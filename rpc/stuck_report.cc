#include "rpc/stuck_report.h"

#include <fmt/core.h>

#include <cstdlib>

#include "engine/base/log.h"

namespace corail {

void report_stuck(const NodeOptions& options, const StuckMemory& stuck) {
  if (options.on_stuck) options.on_stuck(stuck);
  if (!options.abort_when_stuck) return;
  // Whatever the level: nothing else tells why the process has ended.
  write_log(LogLevel::kError,
            fmt::format("the process aborts, as abort_when_stuck says: the device of rail {} hangs",
                        stuck.rail));
  std::abort();
}

}  // namespace corail
