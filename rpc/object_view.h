#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/memory/slab_pool.h"
#include "engine/object/object_descriptor.h"
#include "engine/plan/object_demand.h"
#include "engine/plan/object_plan.h"
#include "engine/read/read_report.h"

namespace corail {

/// Committed bytes of an object. The view *is* the memory that the read landed in (contract 7): it
/// holds the pins, and the bytes are reused once the view and its copies are gone. Where that
/// memory is the caller's own (ReadObjectOptions::destination), the view does not keep it.
/// Immutable; any thread.
class ObjectView {
 public:
  /// Bytes of the object that abut in memory.
  struct Piece {
    std::uint64_t offset = 0;  // of the first one, in the object
    std::span<const std::byte> bytes;
  };

  ObjectView() = default;
  /// `asked`: ascending, inside of what the plan reads. Null plan: nothing was asked for.
  ObjectView(std::shared_ptr<const ObjectDescriptor> object,
             const std::shared_ptr<const ObjectPlan>& plan, std::vector<SlabChunk> chunks,
             std::span<const ObjectRange> asked);

  const ObjectDescriptor& object() const noexcept { return *object_; }
  /// What was asked for and nothing else, in the order of the object. One piece for each range,
  /// more where a range is longer than one allocation (256 MiB).
  std::span<const Piece> pieces() const noexcept { return pieces_; }
  /// Of all pieces.
  std::uint64_t size() const noexcept { return size_; }
  /// The bytes where they are one piece or none, as of a small object; else the first piece.
  std::span<const std::byte> bytes() const noexcept {
    return pieces_.empty() ? std::span<const std::byte>() : pieces_.front().bytes;
  }
  /// One piece after the other; `to` has size() bytes. Takes its time where they are many.
  void copy(std::span<std::byte> to) const;

  const ReadReport& report() const noexcept { return report_; }
  ReadReport& report() noexcept { return report_; }

 private:
  std::shared_ptr<const ObjectDescriptor> object_;
  std::vector<SlabChunk> chunks_;
  std::vector<Piece> pieces_;
  std::uint64_t size_ = 0;
  ReadReport report_;
};

}  // namespace corail
