#include "apps/p2p_bench/object_content.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "apps/p2p_bench/content.h"

namespace corail::bench {
namespace {

/// The stripe's bytes: where they abut in the view the view's own, else gathered in `gathered`.
std::span<const std::byte> stripe_bytes(const ObjectView& view, std::uint64_t from,
                                        std::uint64_t length, std::vector<std::byte>& gathered) {
  gathered.clear();
  for (const ObjectView::Piece& piece : view.pieces()) {
    const std::uint64_t end = piece.offset + piece.bytes.size();
    if (end <= from || piece.offset >= from + length) continue;
    const std::uint64_t begin = std::max(from, piece.offset);
    const auto part =
        piece.bytes.subspan(begin - piece.offset, std::min(end, from + length) - begin);
    if (part.size() == length) return part;
    gathered.insert(gathered.end(), part.begin(), part.end());
  }
  return gathered;
}

}  // namespace

ContentCheck check_object(const ObjectView& view, const Shape& shape, std::uint32_t set) {
  ContentCheck check;
  check.checked_bytes = view.size();
  if (view.size() != shape.payload_bytes()) {
    check.wrong_bytes = std::max(view.size(), shape.payload_bytes());
    return check;
  }
  std::vector<std::byte> gathered;
  const std::uint64_t stripe_size = shape.block_bytes();
  for (std::uint32_t stripe = 0; stripe < shape.blocks; ++stripe) {
    const auto bytes = stripe_bytes(view, stripe * stripe_size, stripe_size, gathered);
    check.wrong_bytes += bytes.size() == stripe_size
                             ? count_mismatches(bytes, CellId{shape.seed, set, stripe, 0})
                             : stripe_size;
  }
  return check;
}

}  // namespace corail::bench
