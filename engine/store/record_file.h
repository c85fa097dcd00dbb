#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/disk/disk_directory.h"
#include "engine/exec/task.h"

namespace corail::detail {

// Small files that are replaced as a whole: whoever looks, also after a crash, finds the old one or
// the new one. `directory` must outlive the calls, as a name does that is given by value.

/// Writes and syncs the record under its temporary name. After a failure nothing is left of it, as
/// far as the disk lets us; the record itself is as it was in every case.
Task<Result<void>> write_record(DiskDirectory& directory, std::string name,
                                std::vector<std::byte> bytes);

/// Puts what write_record() wrote in the record's place. After a failure a crash may show either.
Task<Result<void>> install_record(DiskDirectory& directory, std::string name);

/// The record's bytes, which are `bytes` many.
Task<Result<std::vector<std::byte>>> read_record(DiskDirectory& directory, std::string name,
                                                 std::uint64_t bytes);

}  // namespace corail::detail
