#pragma once

#include <cstdint>

#include "engine/object/striping_info.h"

namespace corail::test {

/// A sound manifest of an object of `size` bytes in stripes of 512 KiB, round robin over three
/// devices of the second of two nodes.
StripingInfo sample_striping(std::uint64_t size);

/// Makes the stripes' checksums fit the granules again.
void refit_checksums(StripingInfo& info);

}  // namespace corail::test
