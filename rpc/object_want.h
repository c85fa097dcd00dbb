#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/object/object_descriptor.h"
#include "engine/plan/object_demand.h"
#include "engine/read/object_integrity.h"
#include "rpc/object_options.h"

namespace corail {

/// What a read wants of an object, worked out of what its caller asked for. A value.
struct ObjectWant {
  std::vector<ObjectRange> asked;  // bytes
  ObjectDemand demand;             // the granules that hold them
  std::uint64_t asked_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint32_t node = 0;                  // the owner, in the descriptor
  std::vector<std::uint32_t> stripes;      // that it has, in order
  std::vector<std::uint32_t> granules_of;  // whose granules' checksums are needed, or worth it
  std::uint64_t granules = 0;              // of those stripes

  /// Whether what is read is what was asked for, byte by byte.
  bool exact() const noexcept { return asked == demand.ranges; }
};

/// Checks descriptor and options, which are the caller's. Fails with kProtocol (a descriptor that
/// is none), kInvalidArgument: the ranges, a copy that does not fit, a range that is on other nodes
/// than `owner`.
Result<ObjectWant> want_of(const ObjectDescriptor& object, NodeId owner,
                           const ReadObjectOptions& options);

/// What the owner has said of the granules, by stripe of the object. `granules` has want.granules.
ObjectExpectation expectation_of(const ObjectDescriptor& object, const ObjectWant& want,
                                 const std::vector<std::uint64_t>& granules);

}  // namespace corail
