#include "engine/store/query.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/store/leased_bytes.h"
#include "engine/store/part_runs.h"

namespace corail::detail {
namespace {

/// How many keys the stages of a cold lookup are apart: enough to overlap the misses of one stage,
/// few enough to stay in the line fill buffers and the first-level cache.
constexpr std::size_t kAhead = 12;

/// What the scan of one query found.
struct Prefix {
  std::vector<std::uint32_t> slots;
  std::vector<std::uint64_t> checksums;
  std::vector<std::shared_ptr<const Extent>> extents;
  PartRuns runs;
};

/// Finds the hashes one after the other; the lookups of later ones are started meanwhile.
class Lookup {
 public:
  Lookup(const BlockTable& blocks, std::uint32_t name_space,
         std::span<const std::string_view> hashes)
      : blocks_(blocks), name_space_(name_space), hashes_(hashes), tags_(hashes.size()) {
    for (std::size_t i = 0; i < 3 * kAhead; ++i) advance(i);
  }

  std::uint32_t find(std::size_t i) {
    advance(i + 3 * kAhead);
    return blocks_.find(tags_[i], name_space_, hashes_[i]);
  }

 private:
  /// Starts key `i` and moves the two stages behind it.
  void advance(std::size_t i) {
    if (i < tags_.size()) {
      tags_[i] = BlockTable::tag_of(name_space_, hashes_[i]);
      blocks_.prefetch_index(tags_[i]);
    }
    if (i >= kAhead && i - kAhead < tags_.size()) blocks_.prefetch_block(tags_[i - kAhead]);
    if (i >= 2 * kAhead && i - 2 * kAhead < tags_.size()) {
      blocks_.prefetch_rest(tags_[i - 2 * kAhead]);
    }
  }

  const BlockTable& blocks_;
  const std::uint32_t name_space_;
  const std::span<const std::string_view> hashes_;
  std::vector<std::uint32_t> tags_;
};

Error repeated_hash(std::size_t position) {
  return {Errc::kInvalidArgument, Stage::kQuery,
          fmt::format("hash {} is there twice; each block is read once", position)};
}

/// A run takes about as many bytes as so many numbers of a part table.
constexpr std::uint64_t kEntriesOfARun = 8;

/// Whether parts are the shorter way to say it. They are, unless neighbours are divided differently
/// again and again.
bool parts_are_shorter(const PartRuns& runs, const Layout& layout) noexcept {
  return runs.part_entries(layout.lanes()) / kEntriesOfARun <= runs.lane_runs();
}

/// Whether one more block, at its worst, keeps the answer within its bound (I8). Where parts would
/// be longer than runs the answer is runs.
bool has_room(const PartRuns& runs, std::size_t blocks, const Layout& layout,
              AnswerEncoding encoding, std::uint64_t most) noexcept {
  std::uint64_t entries = runs.lane_runs();
  if (encoding == AnswerEncoding::kParts && parts_are_shorter(runs, layout)) {
    entries = runs.part_entries(layout.lanes());
  }
  if (encoding == AnswerEncoding::kSegments) entries = std::uint64_t{blocks} * layout.lanes();
  return std::max(entries, runs.ranges()) + layout.lanes() <= most;
}

Result<Prefix> scan(StoreState& store, std::uint32_t name_space,
                    std::span<const std::string_view> hashes, AnswerEncoding encoding) {
  Prefix prefix;
  prefix.slots.reserve(hashes.size());
  prefix.checksums.reserve(hashes.size());
  const std::uint64_t query = store.next_query();
  const Layout* layout = nullptr;
  Lookup lookup(store.blocks(), name_space, hashes);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const std::uint32_t slot = lookup.find(i);
    if (slot == kNoSlot) break;
    Block& block = store.blocks().block(slot);
    if (block.seen_by == query) return repeated_hash(i);
    if (layout == nullptr) layout = block.layout;
    // Layouts are interned, so this is the whole comparison of the templates. A block that differs
    // ends the prefix before any of its addresses is told.
    if (block.layout != layout) break;
    if (i > 0 && !has_room(prefix.runs, i, *layout, encoding, store.options().max_answer_runs)) {
      break;
    }
    block.seen_by = query;
    prefix.runs.append(block.parts(), store.extents());
    for (const PartRef& part : block.parts()) {
      ExtentTable::Entry& extent = store.extents().at(part.extent);
      if (extent.seen_by == query) continue;
      extent.seen_by = query;
      prefix.extents.push_back(extent.extent);
    }
    prefix.slots.push_back(slot);
    prefix.checksums.push_back(block.checksum.value());
  }
  return prefix;
}

}  // namespace

Result<QueryAnswer> query_for_transfer(StoreState& store, const QueryRequest& request) {
  const StoreOptions& options = store.options();
  auto checked = check_keys(request.name_space, request.hashes, options.max_hashes, Stage::kQuery);
  if (!checked) return std::move(checked).error();
  auto allowed = store.leases().may_grant(request.session, request.read);
  if (!allowed) return std::move(allowed).error();

  QueryAnswer answer;
  answer.generation = store.registry().snapshot()->generation();
  const auto name_space = store.namespaces().find(request.name_space);
  if (!name_space) return answer;
  auto found = scan(store, *name_space, request.hashes, request.encoding);
  if (!found) return std::move(found).error();
  Prefix& prefix = *found;
  if (prefix.slots.empty()) return answer;

  std::uint64_t held_bytes = 0;
  for (const auto& extent : prefix.extents) held_bytes += extent->bytes();
  auto within_quota = store.leases().may_hold(request.session, held_bytes);
  if (!within_quota) return std::move(within_quota).error();

  // The head of a prefix is touched last: it is worth most, as the rest is useless without it.
  for (auto slot = prefix.slots.rbegin(); slot != prefix.slots.rend(); ++slot) {
    store.blocks().touch(*slot);
  }
  answer.block_count = static_cast<std::uint32_t>(prefix.slots.size());
  answer.layout = prefix.runs.phases().front().partition->layout;
  answer.encoding = request.encoding;
  if (answer.encoding == AnswerEncoding::kParts &&
      !parts_are_shorter(prefix.runs, *answer.layout)) {
    answer.encoding = AnswerEncoding::kRuns;
  }
  switch (answer.encoding) {
    case AnswerEncoding::kRuns:
      answer.runs = prefix.runs.emit();
      break;
    case AnswerEncoding::kParts:
      answer.parts = prefix.runs.emit_parts();
      break;
    case AnswerEncoding::kSegments:
      answer.runs = prefix.runs.emit_segments();
      break;
  }
  answer.checksums = std::move(prefix.checksums);
  const Duration wanted = request.ttl > Duration::zero() ? request.ttl : options.lease_ttl;
  const auto granted = store.leases().grant(
      request.session, request.read,
      std::make_shared<const LeasedBytes>(std::move(prefix.extents), std::move(prefix.runs)),
      held_bytes, std::min(wanted, options.max_lease_ttl));
  answer.lease = granted.id;
  answer.ttl = granted.ttl;
  return answer;
}

}  // namespace corail::detail
