#pragma once

namespace corail::bench {

/// Opens /dev/null for those of the descriptors 0, 1 and 2 that this process was started without.
/// Called first of all: a socket that got such a number would be read as our input, or be sent our
/// output.
void open_standard_streams();

/// Makes `to` a copy of `from` that a program executed later inherits, also where both are the same
/// descriptor. For the time between fork and exec: async-signal-safe. False when the kernel
/// refuses.
bool inherit_as(int from, int to) noexcept;

}  // namespace corail::bench
