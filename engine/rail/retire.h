#pragma once

#include <cstddef>
#include <memory>

#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/rail/rail.h"

namespace corail {

/// Closes the rail and destroys it. On the rail's executor.
///
/// Fails with kStuck when its device hangs (see Rail::close). The rail is then never destroyed: the
/// device may still use what the transport holds, so it stays with the process, as do the
/// destinations of the reads that got stuck on it (contract 4). That is an error in the log, too.
Task<Result<void>> retire(std::unique_ptr<Rail> rail);

/// Rails that this process keeps for ever because they would not close. Any thread.
std::size_t stuck_rails() noexcept;

}  // namespace corail
