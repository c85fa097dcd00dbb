#pragma once

#include <string_view>

#include "engine/base/error.h"

namespace corail {

/// What a call of libibverbs that returned `error` (an errno) means for a person: which call, on
/// which device, and what to check. kOutOfMemory for limits of memory and locked memory, else
/// kRailFailed.
Error verbs_error(Stage stage, std::string_view call, std::string_view device, int error);

}  // namespace corail
