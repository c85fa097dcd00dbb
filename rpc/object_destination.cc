#include "rpc/object_destination.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

namespace corail {
namespace {

using Scatter = std::span<const DestinationPiece>;

Error bad_destination(std::string what) {
  return Error(Errc::kInvalidArgument, Stage::kPlan, std::move(what));
}

/// Where a piece is in its chunk.
struct Place {
  std::uint32_t chunk = 0;
  std::uint64_t offset = 0;
};

/// What is pinned as one, and which piece is where in it.
struct Extents {
  std::vector<DestinationPiece> all;
  std::vector<Place> places;  // by index in the scatter list
};

Result<void> check_pieces(Scatter scatter, const LandingRegistry* registry) {
  if (scatter.size() > kMaxDestinationPieces) {
    return bad_destination(
        fmt::format("a destination of {} pieces has more than the {} that one read may have",
                    scatter.size(), kMaxDestinationPieces));
  }
  for (std::size_t i = 0; i < scatter.size(); ++i) {
    const DestinationPiece& piece = scatter[i];
    if (!piece.memory || !piece.memory->is_of(registry)) {
      return bad_destination(
          fmt::format("piece {} of the destination is in no memory that was "
                      "registered with this node, or in one that was closed",
                      i));
    }
    const std::uint64_t bytes = piece.memory->bytes().size();
    if (piece.length > 0 && piece.offset <= bytes && piece.length <= bytes - piece.offset) continue;
    return bad_destination(
        fmt::format("piece {} of the destination, {} bytes at {}, must not be empty and lie in its "
                    "registered memory, which has {}",
                    i, piece.length, piece.offset, bytes));
  }
  return ok_result();
}

Result<void> check_size(Scatter scatter, const ObjectDescriptor& object, const ObjectWant& want) {
  std::uint64_t left = want.asked_bytes;
  for (const DestinationPiece& piece : scatter) {
    // A sum could overflow.
    if (piece.length > left) {
      return bad_destination(
          fmt::format("the destination has more bytes than the {} that were "
                      "asked for of '{}'",
                      want.asked_bytes, object.key));
    }
    left -= piece.length;
  }
  if (left > 0) {
    return bad_destination(
        fmt::format("the destination lacks {} of the {} bytes that were asked "
                    "for of '{}'",
                    left, want.asked_bytes, object.key));
  }
  if (want.exact()) return ok_result();
  return bad_destination(fmt::format(
      "what lands in memory of the caller's own must be whole granules of {} bytes, but "
      "for the end of the object; widen the ranges, or use copy_on_commit",
      kGranuleBytes));
}

Result<Extents> make_extents(Scatter scatter) {
  std::vector<std::size_t> order(scatter.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [scatter](std::size_t a, std::size_t b) {
    const auto& [memory, offset, length] = scatter[a];
    if (memory != scatter[b].memory) return std::less<>()(memory, scatter[b].memory);
    return offset < scatter[b].offset;
  });
  Extents extents;
  extents.places.resize(scatter.size());
  for (const std::size_t i : order) {
    const DestinationPiece& piece = scatter[i];
    const bool first = extents.all.empty() || extents.all.back().memory != piece.memory;
    const std::uint64_t end = first ? 0 : extents.all.back().offset + extents.all.back().length;
    if (piece.offset < end) {
      return bad_destination(
          fmt::format("piece {} of the destination, {} bytes at {}, overlaps "
                      "another",
                      i, piece.length, piece.offset));
    }
    if (first || piece.offset > end) {
      extents.all.push_back(piece);
    } else {
      extents.all.back().length += piece.length;
    }
    extents.places[i].chunk = static_cast<std::uint32_t>(extents.all.size() - 1);
    extents.places[i].offset = piece.offset - extents.all.back().offset;
  }
  return extents;
}

/// The ranges one after the other into the pieces one after the other, of which there are as many
/// bytes.
Result<void> lay_out(Scatter scatter, const Extents& extents, const ObjectDescriptor& object,
                     ObjectDemand& demand) {
  std::size_t at_piece = 0;
  std::uint64_t used = 0;
  for (const ObjectRange& range : demand.ranges) {
    const std::uint64_t end = range.offset + range.length;
    for (std::uint64_t at = range.offset; at < end;) {
      if (used == scatter[at_piece].length) {
        ++at_piece;
        used = 0;
      }
      ObjectLanding landing;
      landing.range = {at, std::min(end - at, scatter[at_piece].length - used)};
      landing.chunk = extents.places[at_piece].chunk;
      landing.chunk_offset = extents.places[at_piece].offset + used;
      at += landing.range.length;
      used += landing.range.length;
      if (at % kGranuleBytes != 0 && at != object.size) {
        return bad_destination(
            fmt::format("piece {} of the destination ends at byte {} of the object, within a "
                        "granule of {} bytes, which is verified as one; let it end on a multiple",
                        at_piece, at, kGranuleBytes));
      }
      demand.landings.push_back(landing);
    }
  }
  for (const DestinationPiece& extent : extents.all) demand.chunk_bytes.push_back(extent.length);
  return ok_result();
}

}  // namespace

Result<std::vector<SlabChunk>> land_in(Scatter scatter, const ObjectDescriptor& object,
                                       const LandingRegistry* registry, ObjectWant& want) {
  auto step = check_pieces(scatter, registry);
  if (step) step = check_size(scatter, object, want);
  if (!step) return std::move(step).error();
  auto extents = make_extents(scatter);
  if (!extents) return std::move(extents).error();
  step = lay_out(scatter, *extents, object, want.demand);
  if (!step) return std::move(step).error();
  std::vector<SlabChunk> chunks;
  chunks.reserve(extents->all.size());
  for (const DestinationPiece& extent : extents->all) {
    auto chunk = extent.memory->pin(extent.offset, extent.length);
    if (!chunk) return std::move(chunk).error();
    chunks.push_back(std::move(*chunk));
  }
  return chunks;
}

}  // namespace corail
