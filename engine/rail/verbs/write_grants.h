#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/rail/slice.h"
#include "engine/verbs/memory_key.h"

namespace corail {

/// A piece of memory that a peer may write into, for as long as this lives.
struct WriteKey {
  std::uint64_t base = 0;  // an address of this process
  std::uint64_t length = 0;
  std::unique_ptr<const MemoryKey> registration;
};
using WriteKeys = std::vector<WriteKey>;

/// Which sinks let the peer write where. Owned by a transport, on its port's thread; destroying
/// keys takes long, so they are taken out of here and go on the control executor.
class WriteGrants {
 public:
  void add(const SliceSink& sink, WriteKeys keys);

  /// The key that all of this memory is under; null where the sink has granted none.
  const WriteKey* find(const SliceSink& sink, const std::byte* destination,
                       std::uint64_t length) const;

  /// All of the sink's.
  WriteKeys take(const SliceSink& sink);
  /// All that there are.
  WriteKeys take_all();

 private:
  std::map<const SliceSink*, WriteKeys> keys_;
};

}  // namespace corail
