#include "engine/rail/posted_slices.h"

#include <algorithm>

#include "engine/base/check.h"

namespace corail {

void PostedSlices::reserve(std::size_t count) {
  if (spare_.size() < count) spare_.resize(count);
}

void PostedSlices::add(const SliceSink& sink, std::uint64_t tag, TimePoint now) {
  if (spare_.empty()) spare_.emplace_back();
  posted_.splice(posted_.end(), spare_, spare_.begin());
  Entry& entry = posted_.back();
  entry.sink = &sink;
  entry.tag = tag;
  entry.heard = now;
}

void PostedSlices::landed(const SliceSink& sink, std::uint64_t tag, TimePoint now) {
  find(sink, tag)->heard = now;
}

void PostedSlices::end(const SliceSink& sink, std::uint64_t tag, TimePoint now) {
  const auto ended = find(sink, tag);
  const bool oldest = ended == posted_.begin();
  spare_.splice(spare_.begin(), posted_, ended);
  // Until now it was somebody else's turn.
  if (oldest && !posted_.empty()) posted_.front().heard = now;
}

PostedSlices::Entries::iterator PostedSlices::find(const SliceSink& sink, std::uint64_t tag) {
  // As a rule it is one of the first.
  const auto found = std::find_if(posted_.begin(), posted_.end(), [&](const Entry& entry) {
    return entry.sink == &sink && entry.tag == tag;
  });
  CORAIL_CHECK(found != posted_.end(), "a slice has one outcome");
  return found;
}

}  // namespace corail
