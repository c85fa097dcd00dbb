#include "rpc/object_view.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/check.h"

namespace corail {
namespace {

/// What lies where, in the order of the object; what abuts at both ends is one.
std::vector<ObjectView::Piece> landed(const ObjectPlan& plan, std::span<const SlabChunk> chunks) {
  std::vector<ObjectView::Piece> all;
  all.reserve(plan.spans().size());
  for (const ReadPlan::Span& span : plan.spans()) {
    const auto bytes = chunks[span.chunk].bytes().subspan(span.chunk_offset, span.length);
    all.push_back({plan.object_offset(span.linear), bytes});
  }
  std::ranges::sort(all, {}, &ObjectView::Piece::offset);
  std::vector<ObjectView::Piece> fused;
  for (const ObjectView::Piece& piece : all) {
    if (!fused.empty()) {
      ObjectView::Piece& last = fused.back();
      const bool abuts = last.offset + last.bytes.size() == piece.offset &&
                         last.bytes.data() + last.bytes.size() == piece.bytes.data();
      if (abuts) {
        last.bytes = {last.bytes.data(), last.bytes.size() + piece.bytes.size()};
        continue;
      }
    }
    fused.push_back(piece);
  }
  return fused;
}

}  // namespace

ObjectView::ObjectView(std::shared_ptr<const ObjectDescriptor> object,
                       const std::shared_ptr<const ObjectPlan>& plan, std::vector<SlabChunk> chunks,
                       std::span<const ObjectRange> asked)
    : object_(std::move(object)), chunks_(std::move(chunks)) {
  if (!plan) return;
  const std::vector<Piece> all = landed(*plan, chunks_);
  auto piece = all.begin();
  for (const ObjectRange& range : asked) {
    const std::uint64_t end = range.offset + range.length;
    for (std::uint64_t at = range.offset; at < end;) {
      while (piece != all.end() && piece->offset + piece->bytes.size() <= at) ++piece;
      CORAIL_CHECK(piece != all.end() && piece->offset <= at,
                   "I3: what was asked for has been read");
      const std::uint64_t skipped = at - piece->offset;
      const std::uint64_t length = std::min(end - at, piece->bytes.size() - skipped);
      pieces_.push_back({at, piece->bytes.subspan(skipped, length)});
      at += length;
    }
    size_ += range.length;
  }
  // A view that lies about would else keep a caller's memory registered.
  std::erase_if(chunks_, [](const SlabChunk& chunk) { return !chunk.engine_owned(); });
}

void ObjectView::copy(std::span<std::byte> to) const {
  CORAIL_CHECK(to.size() >= size_, "the memory for a copy holds all of it");
  for (const Piece& piece : pieces_) {
    std::memcpy(to.data(), piece.bytes.data(), piece.bytes.size());
    to = to.subspan(piece.bytes.size());
  }
}

}  // namespace corail
