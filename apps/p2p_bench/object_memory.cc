#include "apps/p2p_bench/object_memory.h"

#include <utility>

#include "apps/p2p_bench/content.h"
#include "apps/p2p_bench/destination.h"

namespace corail::bench {

NodeObjectOptions object_options_for(const ObjectWork& work, const Shape& shape) {
  NodeObjectOptions options;
  options.directories = work.directories();
  if (work.in_memory()) options.memory_bytes = shape.stored_bytes() + shape.payload_bytes();
  return options;
}

Result<ObjectMemory> ObjectMemory::allocate(SlabPool& memory, const Shape& shape) {
  ObjectMemory made;
  auto chunks = allocate_like_reads(memory, shape, 1);
  if (!chunks.ok()) return std::move(chunks).error();
  made.chunks_ = std::move(*chunks);
  SourceMemory object;
  for (const SlabChunk& chunk : made.chunks_) {
    // Pages that nobody wrote are all the same one, which no memory bus ever sees.
    fill_content(chunk.bytes(), CellId{shape.seed, 0, 0, 0});
    object.push_back(chunk.bytes());
  }
  made.sets_.assign(shape.sets, object);
  return made;
}

}  // namespace corail::bench
