#pragma once

#include <cstdint>

#include "apps/p2p_bench/bench_shape.h"
#include "apps/p2p_bench/verify.h"
#include "rpc/object_view.h"

namespace corail::bench {

/// Compares every byte of an object with the content of its stripes; an object that is shorter or
/// longer than the shape says has no byte right.
ContentCheck check_object(const ObjectView& view, const Shape& shape, std::uint32_t set);

}  // namespace corail::bench
