#include "engine/read/integrity.h"

#include <algorithm>
#include <utility>

#include "engine/base/checksum.h"

namespace corail {
namespace {

std::uint32_t lanes_of(const BlockPlan& plan) noexcept {
  return plan.lane_range().end - plan.lane_range().begin;
}

}  // namespace

BlockExpectation expect_blocks(std::string_view name_space, std::span<const std::string> hashes,
                               std::uint64_t layout_id, std::vector<std::uint64_t> checksums) {
  BlockExpectation expected;
  const std::size_t blocks = std::min(hashes.size(), checksums.size());
  expected.identities.reserve(blocks);
  for (const std::string& hash : hashes.first(blocks)) {
    expected.identities.push_back(block_identity(name_space, hash, layout_id));
  }
  expected.checksums = std::move(checksums);
  return expected;
}

BlockVerifier::BlockVerifier(std::shared_ptr<const BlockPlan> plan,
                             std::vector<std::byte*> chunk_bases)
    : plan_(std::move(plan)),
      chunk_bases_(std::move(chunk_bases)),
      lanes_(lanes_of(*plan_)),
      sums_(plan_->blocks(), 0),
      counts_(plan_->blocks(), 0),
      hashed_((std::uint64_t{plan_->blocks()} * lanes_ + 63) / 64, 0) {}

std::uint64_t BlockVerifier::term(std::uint32_t lane, std::uint64_t linear, std::uint32_t bytes) {
  const std::span<const ChunkSpec> chunks = plan_->chunks();
  // Unsigned: where the segment lies before the chunk, the difference is huge.
  if (linear - chunks[chunk_guess_].linear >= chunks[chunk_guess_].bytes) {
    chunk_guess_ = plan_->chunk_at(linear);
  }
  const std::byte* data = chunk_bases_[chunk_guess_] + (linear - chunks[chunk_guess_].linear);
  return lane_term(xxh3_64({data, bytes}), lane);
}

void BlockVerifier::add(std::uint32_t block, std::uint32_t lane, std::uint64_t linear,
                        std::uint32_t bytes) {
  sums_[block] += term(lane, linear, bytes);
  ++counts_[block];
  const std::uint64_t segment = bit_of(block, lane);
  hashed_[segment / 64] |= std::uint64_t{1} << (segment % 64);
}

void BlockVerifier::landed(std::uint64_t from, std::uint64_t to) {
  std::uint64_t start = from;
  if (const auto open = open_.find(from); open != open_.end()) {
    start = open->second;
    open_.erase(open);
  }
  plan_->for_each_segment(
      start, to,
      [&](std::uint32_t block, std::uint32_t lane, std::uint64_t linear, std::uint32_t bytes) {
        const std::uint64_t end = linear + bytes;
        if (linear >= start && end <= to) {
          add(block, lane, linear, bytes);
        } else if (end > to) {
          open_.insert_or_assign(to, std::max(linear, start));
        } else {
          ends_.push_back({start, end});
        }
      });
}

void BlockVerifier::restart(std::uint64_t from, std::uint64_t to) {
  trim_fragments(from, to);
  plan_->for_each_segment(
      from, to,
      [&](std::uint32_t block, std::uint32_t lane, std::uint64_t linear, std::uint32_t bytes) {
        const std::uint64_t segment = bit_of(block, lane);
        const std::uint64_t bit = std::uint64_t{1} << (segment % 64);
        if ((hashed_[segment / 64] & bit) == 0) return;
        // Its bytes are still those that were hashed; were they not, the sum would come out wrong,
        // and the block would be refused.
        hashed_[segment / 64] &= ~bit;
        sums_[block] -= term(lane, linear, bytes);
        --counts_[block];
        // The neighbours' shares of a segment that is cut between slices stay valid.
        if (linear < from) open_.insert_or_assign(from, linear);
        if (linear + bytes > to) ends_.push_back({to, linear + bytes});
      });
}

void BlockVerifier::trim_fragments(std::uint64_t from, std::uint64_t to) {
  std::vector<Fragment> fragments;
  move_to(fragments);
  for (const Fragment& it : fragments) {
    if (it.from < from) open_.insert_or_assign(std::min(it.to, from), it.from);
    if (it.to > to) open_.insert_or_assign(it.to, std::max(it.from, to));
  }
}

void BlockVerifier::move_to(std::vector<Fragment>& all) {
  all.insert(all.end(), ends_.begin(), ends_.end());
  for (const auto& [to, from] : open_) all.push_back({from, to});
  ends_.clear();
  open_.clear();
}

void BlockVerifier::hash_fragments(std::vector<Fragment> fragments) {
  std::sort(fragments.begin(), fragments.end(),
            [](const Fragment& a, const Fragment& b) { return a.from < b.from; });
  for (std::size_t i = 0; i < fragments.size();) {
    Fragment joined = fragments[i];
    for (++i; i < fragments.size() && fragments[i].from == joined.to; ++i) {
      joined.to = fragments[i].to;
    }
    plan_->for_each_segment(
        joined.from, joined.to,
        [&](std::uint32_t block, std::uint32_t lane, std::uint64_t linear, std::uint32_t bytes) {
          const bool whole = linear >= joined.from && linear + bytes <= joined.to;
          if (whole) add(block, lane, linear, bytes);
        });
  }
}

IntegrityOutcome join_verifiers(std::span<BlockVerifier* const> verifiers,
                                const BlockExpectation& expected) {
  BlockVerifier& total = *verifiers.front();
  std::vector<BlockVerifier::Fragment> fragments;
  for (BlockVerifier* verifier : verifiers) {
    verifier->move_to(fragments);
    if (verifier == &total) continue;
    for (std::size_t block = 0; block < total.sums_.size(); ++block) {
      total.sums_[block] += verifier->sums_[block];
      total.counts_[block] += verifier->counts_[block];
    }
  }
  total.hash_fragments(std::move(fragments));

  IntegrityOutcome outcome;
  const BlockPlan& plan = *total.plan_;
  // Every block has the same lanes of the same lengths.
  const std::uint64_t bytes_of_a_block = plan.total_bytes() / std::max(1U, plan.blocks());
  const std::size_t known = std::min(expected.identities.size(), expected.checksums.size());
  const auto sum_is_right = [&](std::uint32_t block) {
    if (!expected.lane_sums.empty()) {
      return block < expected.lane_sums.size() && total.sums_[block] == expected.lane_sums[block];
    }
    return block < known &&
           block_checksum(total.sums_[block], expected.identities[block]).value() ==
               expected.checksums[block];
  };
  for (std::uint32_t block = 0; block < plan.blocks(); ++block) {
    if (total.counts_[block] == total.lanes_ && sum_is_right(block)) {
      outcome.verified_bytes += bytes_of_a_block;
      continue;
    }
    if (outcome.mismatched_blocks++ == 0) outcome.first_mismatch = block;
  }
  return outcome;
}

}  // namespace corail
