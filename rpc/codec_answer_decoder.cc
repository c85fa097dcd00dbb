// The answer to a query, read by hand: run table and checksums go from the wire to their vectors
// without a message in between.
#include <chrono>
#include <numeric>
#include <string>
#include <utility>

#include "proto/corail/v1/blocks.pb.h"
#include "rpc/codec.h"
#include "rpc/codec_fields.h"
#include "rpc/codec_parts.h"
#include "rpc/packed.h"

namespace corail {
namespace {

using Fields = v1::QueryBlocksForTransferAnswer;
constexpr std::string_view kAnswer = "QueryBlocksForTransferAnswer";
/// Lanes of the largest layout.
constexpr std::size_t kMaxLanes = 2 * kMaxSlots;

/// Holds one message while it is taken apart.
class AnswerDecoder {
 public:
  explicit AnswerDecoder(const QueryExpectation& expected) : expected_(expected) {}

  Result<void> take(const WireReader& field);
  Result<TransferAnswer> finish();

 private:
  Result<void> take_number(const WireReader& field, std::string_view name, std::uint64_t most,
                           std::uint64_t& to);
  Result<void> take_slot(std::span<const std::byte> message);
  Result<void> took_array(const WireReader& field, std::string_view name, bool taken,
                          bool in_run_table);
  Result<void> take_parts(const WireReader& field);
  Result<void> check_lengths() const;
  Result<void> check_encoding();

  const QueryExpectation& expected_;
  TransferAnswer answer_;
  std::uint64_t boot_ = 0;
  std::uint64_t ttl_ms_ = 0;
  std::uint64_t blocks_ = 0;
  std::uint64_t generation_ = 0;
  std::size_t slots_ = 0;
  bool has_parts_ = false;
};

Result<void> AnswerDecoder::take(const WireReader& field) {
  constexpr std::uint64_t kAny = ~std::uint64_t{0};
  RunTable& runs = answer_.blocks.runs;
  const std::size_t most_runs = RunLimits{}.max_runs;
  switch (field.field()) {
    case Fields::kLeaseBootIdFieldNumber:
      if (!field.is(WireType::kFixed64)) break;
      boot_ = field.number();
      return ok_result();
    case Fields::kLeaseCounterFieldNumber:
      return take_number(field, "lease_counter", kAny, answer_.blocks.lease.counter);
    case Fields::kTtlMsFieldNumber:
      return take_number(field, "ttl_ms", kMaxTtlMs, ttl_ms_);
    case Fields::kBlockCountFieldNumber:
      return take_number(field, "block_count", expected_.asked_blocks, blocks_);
    case Fields::kTableGenerationFieldNumber:
      return take_number(field, "table_generation", kAny, generation_);
    case Fields::kSlotTemplateFieldNumber:
      if (!field.is(WireType::kBytes)) break;
      answer_.run_table_bytes += field.field_bytes();
      return take_slot(field.bytes());
    case Fields::kRunsPerLaneFieldNumber:
      return took_array(field, "runs_per_lane",
                        append_varints(field, kMaxLanes, runs.runs_per_lane), true);
    case Fields::kRunBaseFieldNumber:
      return took_array(field, "run_base", append_fixed64(field, most_runs, runs.base), true);
    case Fields::kRunStrideFieldNumber:
      return took_array(field, "run_stride", append_varints(field, most_runs, runs.stride), true);
    case Fields::kRunCountFieldNumber:
      return took_array(field, "run_count", append_varints(field, most_runs, runs.count), true);
    case Fields::kBlockChecksumsFieldNumber:
      return took_array(field, "block_checksums",
                        append_fixed64(field, expected_.asked_blocks, answer_.blocks.checksums),
                        false);
    case Fields::kPartsFieldNumber:
      if (!field.is(WireType::kBytes)) break;
      return take_parts(field);
    default:
      return ok_result();  // of a later version
  }
  return codec::field_error(kAnswer, std::to_string(field.field()), "has the wrong wire type");
}

Result<void> AnswerDecoder::take_number(const WireReader& field, std::string_view name,
                                        std::uint64_t most, std::uint64_t& to) {
  if (!field.is(WireType::kVarint)) {
    return codec::field_error(kAnswer, name, "has the wrong wire type");
  }
  if (field.number() > most) {
    return codec::field_error(kAnswer, name, "is {}, more than {}", field.number(), most);
  }
  to = field.number();
  return ok_result();
}

/// Compares with the requester's own layout on the way, so that a hostile template allocates
/// nothing.
Result<void> AnswerDecoder::take_slot(std::span<const std::byte> message) {
  std::uint64_t k = 0;
  std::uint64_t v = 0;
  WireReader reader(message);
  while (reader.next()) {
    if (!reader.is(WireType::kVarint)) continue;
    if (reader.field() == v1::SlotTemplate::kKSizeFieldNumber) k = reader.number();
    if (reader.field() == v1::SlotTemplate::kVSizeFieldNumber) v = reader.number();
  }
  if (!reader.ok()) return codec::malformed("SlotTemplate");
  const auto mine = expected_.layout->slots();
  if (slots_ < mine.size() && (k != mine[slots_].k_bytes || v != mine[slots_].v_bytes)) {
    return Error(Errc::kLayoutMismatch, Stage::kQuery,
                 fmt::format("slot {} of the holder's blocks has {} and {} bytes, and this node's "
                             "layout {} and {}; both must serve the same model with the same split",
                             slots_, k, v, mine[slots_].k_bytes, mine[slots_].v_bytes));
  }
  ++slots_;
  return ok_result();
}

Result<void> AnswerDecoder::took_array(const WireReader& field, std::string_view name, bool taken,
                                       bool in_run_table) {
  if (!taken) {
    return codec::field_error(kAnswer, name, "is malformed, out of range or too long ({} bytes)",
                              field.field_bytes());
  }
  if (in_run_table) answer_.run_table_bytes += field.field_bytes();
  return ok_result();
}

Result<void> AnswerDecoder::take_parts(const WireReader& field) {
  if (has_parts_) return codec::field_error(kAnswer, "parts", "is there twice");
  has_parts_ = true;
  answer_.run_table_bytes += field.field_bytes();
  codec::PartLimits limits;
  limits.blocks = expected_.asked_blocks;
  limits.lanes = expected_.layout->lanes();
  limits.entries = RunLimits{}.max_runs;
  auto parts = codec::decode_parts(field.bytes(), limits);
  if (!parts.ok()) return std::move(parts).error();
  answer_.blocks.parts = std::move(*parts);
  return ok_result();
}

/// Whether the blocks are told in the encoding that was asked for, and in no other.
Result<void> AnswerDecoder::check_encoding() {
  RunTable& runs = answer_.blocks.runs;
  if (blocks_ == 0) return ok_result();
  if (has_parts_ && expected_.encoding != AnswerEncoding::kParts) {
    return codec::field_error(kAnswer, "parts", "is there, which is not what was asked for");
  }
  answer_.blocks.encoding = expected_.encoding;
  // Runs are always an answer: the holder has chosen what is shorter.
  if (!has_parts_ && expected_.encoding == AnswerEncoding::kParts) {
    answer_.blocks.encoding = AnswerEncoding::kRuns;
  }
  if (has_parts_ && (!runs.runs_per_lane.empty() || !runs.base.empty())) {
    return codec::field_error(kAnswer, "parts", "is there, and runs are too");
  }
  if (expected_.encoding == AnswerEncoding::kSegments) {
    if (!runs.stride.empty() || !runs.count.empty()) {
      return codec::field_error(kAnswer, "run_base", "was to be one address a segment");
    }
    runs.stride.assign(runs.base.size(), 0);
    runs.count.assign(runs.base.size(), 1);
  }
  return ok_result();
}

Result<void> AnswerDecoder::check_lengths() const {
  const RunTable& runs = answer_.blocks.runs;
  const Layout& layout = *expected_.layout;
  const bool empty = blocks_ == 0;
  if (empty && (boot_ != 0 || answer_.blocks.lease.counter != 0 || ttl_ms_ != 0)) {
    return codec::field_error(kAnswer, "block_count", "is 0, but there is a lease");
  }
  if (empty && (slots_ != 0 || has_parts_ || !runs.runs_per_lane.empty() || !runs.base.empty())) {
    return codec::field_error(kAnswer, "block_count", "is 0, but there are slots or runs");
  }
  if (!empty && slots_ != layout.slots().size()) {
    return Error(Errc::kLayoutMismatch, Stage::kQuery,
                 fmt::format("the holder's blocks have {} slots and this node's layout {}; both "
                             "must serve the same model with the same split",
                             slots_, layout.slots().size()));
  }
  if (!empty && !has_parts_ && runs.runs_per_lane.size() != layout.lanes()) {
    return codec::field_error(kAnswer, "runs_per_lane", "has {} elements for {} lanes",
                              runs.runs_per_lane.size(), layout.lanes());
  }
  const std::uint64_t sum =
      std::accumulate(runs.runs_per_lane.begin(), runs.runs_per_lane.end(), std::uint64_t{0});
  if (sum != runs.base.size() || sum != runs.stride.size() || sum != runs.count.size()) {
    return codec::field_error(kAnswer, "runs_per_lane",
                              "sums to {}, with {} bases, {} strides and {} counts", sum,
                              runs.base.size(), runs.stride.size(), runs.count.size());
  }
  if (answer_.blocks.checksums.size() != blocks_) {
    return codec::field_error(kAnswer, "block_checksums", "has {} elements for {} blocks",
                              answer_.blocks.checksums.size(), blocks_);
  }
  return ok_result();
}

Result<TransferAnswer> AnswerDecoder::finish() {
  const auto encoding = check_encoding();
  if (!encoding.ok()) return encoding.error();
  const auto lengths = check_lengths();
  if (!lengths.ok()) return lengths.error();
  QueryAnswer& blocks = answer_.blocks;
  blocks.block_count = static_cast<std::uint32_t>(blocks_);  // at most asked_blocks
  blocks.generation = TableGeneration(generation_);
  if (blocks_ == 0) return std::move(answer_);
  if (BootId(boot_) != expected_.boot) {
    return codec::field_error(kAnswer, "lease_boot_id", "is not that of the holder's Hello");
  }
  if (ttl_ms_ == 0) return codec::field_error(kAnswer, "ttl_ms", "is 0");
  blocks.lease.boot = expected_.boot;
  blocks.ttl = std::chrono::milliseconds(ttl_ms_);
  blocks.layout = expected_.layout;
  return std::move(answer_);
}

}  // namespace

Result<TransferAnswer> decode_query_answer(std::span<const std::byte> body,
                                           const QueryExpectation& expected) {
  AnswerDecoder decoder(expected);
  WireReader reader(body);
  while (reader.next()) {
    const auto taken = decoder.take(reader);
    if (!taken.ok()) return taken.error();
  }
  if (!reader.ok()) return codec::malformed(kAnswer);
  return decoder.finish();
}

}  // namespace corail
