#include "engine/plan/object_plan.h"

#include <utility>

namespace corail {

ObjectRange whole_granules(ObjectRange range, std::uint64_t size) noexcept {
  const std::uint64_t begin = range.offset / kGranuleBytes * kGranuleBytes;
  const std::uint64_t end = range.offset + range.length;
  const std::uint64_t beyond = end % kGranuleBytes == 0 ? 0 : kGranuleBytes - end % kGranuleBytes;
  return {begin, std::min(size - end, beyond) + end - begin};
}

std::uint64_t ObjectPlan::object_offset(std::uint64_t linear) const noexcept {
  const std::size_t i = span_index(linear);
  return parts_[i].object_offset + (linear - spans_[i].linear);
}

std::uint64_t ObjectPlan::cut_in(const Span& span, std::uint64_t from, std::uint64_t want,
                                 std::uint64_t most) const noexcept {
  // A span begins with a granule, and its granules are whole but for the object's last.
  const std::uint64_t end = span.linear + span.length;
  if (end - from <= want) return end;
  const std::uint64_t border =
      span.linear + (from + want - span.linear) / kGranuleBytes * kGranuleBytes;
  if (border > from) return border;
  const std::uint64_t next = std::min(border + kGranuleBytes, end);
  return next - from <= most ? next : from + want;
}

void ObjectPlan::for_each_copy(std::uint64_t from, std::uint64_t to,
                               const std::function<void(const CopyPiece&)>& f) const {
  to = std::min(to, total_bytes_);
  if (from >= to) return;
  for (std::size_t i = span_index(from); i < spans_.size() && spans_[i].linear < to; ++i) {
    const Span& span = spans_[i];
    const std::uint64_t begin = std::max(from, span.linear);
    CopyPiece piece;
    piece.chunk = span.chunk;
    piece.chunk_offset = span.chunk_offset + (begin - span.linear);
    piece.length = std::min(to, span.linear + span.length) - begin;
    piece.copy_offset = parts_[i].copy_offset + (begin - span.linear);
    f(piece);
  }
}

}  // namespace corail
