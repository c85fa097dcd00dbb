#include "engine/memory/extent_allocator.h"

#include <iterator>

#include "engine/base/check.h"
#include "engine/base/units.h"

namespace corail {

ExtentAllocator::ExtentAllocator(std::uint64_t capacity)
    : capacity_(capacity), free_bytes_(capacity) {
  if (capacity > 0) holes_.emplace(0, capacity);
}

std::optional<std::uint64_t> ExtentAllocator::allocate(std::uint64_t bytes,
                                                       std::uint64_t alignment) {
  CORAIL_CHECK(alignment > 0 && (alignment & (alignment - 1)) == 0,
               "an alignment is a power of two");
  if (bytes == 0 || bytes > free_bytes_) return std::nullopt;
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    const auto [start, length] = *hole;
    const std::uint64_t padding = (alignment - start % alignment) % alignment;
    if (padding >= length || bytes > length - padding) continue;
    const std::uint64_t offset = start + padding;
    const std::uint64_t rest = length - padding - bytes;
    // The padding stays a hole of its own: a later, less aligned range may use it.
    if (padding > 0) {
      hole->second = padding;
    } else {
      holes_.erase(hole);
    }
    if (rest > 0) holes_.emplace(offset + bytes, rest);
    free_bytes_ -= bytes;
    return offset;
  }
  return std::nullopt;
}

void ExtentAllocator::free(std::uint64_t offset, std::uint64_t bytes) {
  CORAIL_CHECK(bytes > 0 && offset <= capacity_ && bytes <= capacity_ - offset,
               "the freed range lies inside the slab");
  auto next = holes_.lower_bound(offset);
  CORAIL_CHECK(next == holes_.end() || offset + bytes <= next->first,
               "a range was freed that was free already");
  std::uint64_t start = offset;
  std::uint64_t end = offset + bytes;
  if (next != holes_.begin()) {
    const auto before = std::prev(next);
    CORAIL_CHECK(before->first + before->second <= offset,
                 "a range was freed that was free already");
    if (before->first + before->second == offset) {
      start = before->first;
      holes_.erase(before);
    }
  }
  if (next != holes_.end() && next->first == end) {
    end += next->second;
    holes_.erase(next);
  }
  holes_.emplace(start, end - start);
  free_bytes_ += bytes;
}

}  // namespace corail
