#pragma once

#include <cstddef>

namespace corail {

/// What a rail and a door may say to each other at once, at most (I8).
inline constexpr std::size_t kMaxGreetingBytes = 4096;

}  // namespace corail
