#pragma once

#include <cstdint>
#include <memory>

namespace corail {

class CallersMemory;

/// Bytes of registered memory, for the scatter list of a read. It names them, and keeps neither the
/// memory nor its registration: a read that begins once the memory is being closed is refused.
///
/// Apart from RegisteredMemory because options name it: what needs no coroutine, such as the
/// codecs, must compile without them.
struct DestinationPiece {
  std::shared_ptr<CallersMemory> memory;  // from RegisteredMemory::piece()
  std::uint64_t offset = 0;               // bytes, in the registered memory
  std::uint64_t length = 0;
};

}  // namespace corail
