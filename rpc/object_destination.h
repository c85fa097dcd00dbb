#pragma once

#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/memory/landing_registry.h"
#include "engine/memory/slab_chunk.h"
#include "engine/object/object_descriptor.h"
#include "rpc/destination_piece.h"
#include "rpc/object_options.h"
#include "rpc/object_want.h"

namespace corail {

/// Makes the read land in the caller's scatter list: adds the landings to what is wanted, and pins
/// the memory. The chunks are those of the demand: pieces that abut in memory are one, and no byte
/// that is none of theirs is in a chunk, because owners may be let write into chunks.
///
/// `registry` is the reading node's, null where it has none. Fails with kInvalidArgument: a list
/// that does not have as many bytes as were asked for, a border within a granule, pieces that
/// overlap, memory of another node, or none; and as CallersMemory::pin().
Result<std::vector<SlabChunk>> land_in(std::span<const DestinationPiece> scatter,
                                       const ObjectDescriptor& object,
                                       const LandingRegistry* registry, ObjectWant& want);

}  // namespace corail
