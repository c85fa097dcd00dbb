#include "engine/read/piece_verifier.h"

#include <algorithm>
#include <utility>

#include "engine/base/checksum.h"
#include "engine/read/object_integrity.h"
#include "engine/read/pieces_of_blocks.h"

namespace corail {

template <typename Plan>
PieceVerifier<Plan>::PieceVerifier(std::shared_ptr<const Plan> plan,
                                   std::vector<std::byte*> chunk_bases)
    : plan_(std::move(plan)),
      chunk_bases_(std::move(chunk_bases)),
      sums_(PiecesOf<Plan>::units(*plan_), 0),
      counts_(PiecesOf<Plan>::units(*plan_), 0),
      hashed_((PiecesOf<Plan>::bits(*plan_) + 63) / 64, 0) {}

template <typename Plan>
std::uint64_t PieceVerifier<Plan>::term(std::uint32_t piece, std::uint64_t linear,
                                        std::uint32_t bytes) {
  const std::span<const ReadPlan::Span> spans = plan_->spans();
  // Unsigned: where the piece begins before the span, the difference is huge.
  const auto holds = [&spans, linear](std::size_t span) {
    return linear - spans[span].linear < spans[span].length;
  };
  if (!holds(span_guess_)) {
    // What lands in order goes on in the next one.
    const bool in_next = span_guess_ + 1 < spans.size() && holds(span_guess_ + 1);
    span_guess_ = in_next ? span_guess_ + 1
                          : static_cast<std::size_t>(&plan_->span_at(linear) - spans.data());
  }
  // A piece that goes on in the next span lies in one chunk all the same.
  const ReadPlan::Span& span = spans[span_guess_];
  const std::byte* data = chunk_bases_[span.chunk] + span.chunk_offset + (linear - span.linear);
  return lane_term(xxh3_64({data, bytes}), piece);
}

template <typename Plan>
void PieceVerifier<Plan>::add(std::uint32_t unit, std::uint32_t piece, std::uint64_t linear,
                              std::uint32_t bytes) {
  sums_[unit] += term(piece, linear, bytes);
  ++counts_[unit];
}

template <typename Plan>
void PieceVerifier<Plan>::landed(std::uint64_t from, std::uint64_t to) {
  std::uint64_t start = from;
  if (const auto open = open_.find(from); open != open_.end()) {
    start = open->second;
    open_.erase(open);
  }
  plan_->for_each_segment(
      start, to,
      [&](std::uint32_t unit, std::uint32_t piece, std::uint64_t linear, std::uint32_t bytes) {
        const std::uint64_t end = linear + bytes;
        if (linear >= start && end <= to) {
          add(unit, piece, linear, bytes);
          const std::uint64_t number = PiecesOf<Plan>::bit(*plan_, unit, piece);
          hashed_[number / 64] |= std::uint64_t{1} << (number % 64);
        } else if (end > to) {
          open_.insert_or_assign(to, std::max(linear, start));
        } else {
          ends_.push_back({start, end});
        }
      });
}

template <typename Plan>
void PieceVerifier<Plan>::restart(std::uint64_t from, std::uint64_t to) {
  trim_fragments(from, to);
  plan_->for_each_segment(
      from, to,
      [&](std::uint32_t unit, std::uint32_t piece, std::uint64_t linear, std::uint32_t bytes) {
        const std::uint64_t number = PiecesOf<Plan>::bit(*plan_, unit, piece);
        const std::uint64_t bit = std::uint64_t{1} << (number % 64);
        if ((hashed_[number / 64] & bit) == 0) return;
        // Its bytes are still those that were hashed; were they not, the sum would come out wrong,
        // and the unit would be refused.
        hashed_[number / 64] &= ~bit;
        sums_[unit] -= term(piece, linear, bytes);
        --counts_[unit];
        // The neighbours' shares of a piece that is cut between slices stay valid.
        if (linear < from) open_.insert_or_assign(from, linear);
        if (linear + bytes > to) ends_.push_back({to, linear + bytes});
      });
}

template <typename Plan>
void PieceVerifier<Plan>::trim_fragments(std::uint64_t from, std::uint64_t to) {
  std::vector<Fragment> fragments;
  move_to(fragments);
  for (const Fragment& it : fragments) {
    if (it.from < from) open_.insert_or_assign(std::min(it.to, from), it.from);
    if (it.to > to) open_.insert_or_assign(it.to, std::max(it.from, to));
  }
}

template <typename Plan>
void PieceVerifier<Plan>::move_to(std::vector<Fragment>& all) {
  all.insert(all.end(), ends_.begin(), ends_.end());
  for (const auto& [to, from] : open_) all.push_back({from, to});
  ends_.clear();
  open_.clear();
}

template <typename Plan>
void PieceVerifier<Plan>::hash_fragments(std::vector<Fragment> fragments) {
  std::sort(fragments.begin(), fragments.end(),
            [](const Fragment& a, const Fragment& b) { return a.from < b.from; });
  for (std::size_t i = 0; i < fragments.size();) {
    Fragment joined = fragments[i];
    for (++i; i < fragments.size() && fragments[i].from == joined.to; ++i) {
      joined.to = fragments[i].to;
    }
    plan_->for_each_segment(
        joined.from, joined.to,
        [&](std::uint32_t unit, std::uint32_t piece, std::uint64_t linear, std::uint32_t bytes) {
          const bool whole = linear >= joined.from && linear + bytes <= joined.to;
          if (whole) add(unit, piece, linear, bytes);
        });
  }
}

template <typename Plan>
void PieceVerifier<Plan>::take_over(std::span<PieceVerifier* const> others) {
  std::vector<Fragment> fragments;
  move_to(fragments);
  for (PieceVerifier* other : others) {
    if (other == this) continue;
    other->move_to(fragments);
    for (std::size_t unit = 0; unit < sums_.size(); ++unit) {
      sums_[unit] += other->sums_[unit];
      counts_[unit] += other->counts_[unit];
    }
  }
  hash_fragments(std::move(fragments));
}

template <typename Plan>
bool PieceVerifier<Plan>::has_hashed(std::uint32_t unit, std::uint32_t piece) const noexcept {
  const std::uint64_t number = PiecesOf<Plan>::bit(*plan_, unit, piece);
  return (hashed_[number / 64] >> (number % 64) & 1) != 0;
}

template class PieceVerifier<BlockPlan>;
template class PieceVerifier<ObjectPlan>;

}  // namespace corail
