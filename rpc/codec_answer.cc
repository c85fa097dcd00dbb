// The answer to a query, written by hand: run table and checksums go from their vectors to the wire
// without a message in between.
#include <algorithm>
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

std::size_t varint_field_size(std::uint64_t value) {
  return value == 0 ? 0 : 1 + varint_bytes(value);
}

void put_varint(WireWriter& writer, std::uint32_t field, std::uint64_t value) {
  if (value == 0) return;
  writer.tag(field, WireType::kVarint);
  writer.varint(value);
}

std::size_t slot_size(const Slot& slot) {
  return varint_field_size(slot.k_bytes) + varint_field_size(slot.v_bytes) +
         varint_field_size(zigzag(slot.numa_node));
}

std::vector<std::byte> encode_template(const Layout& layout) {
  std::size_t size = 0;
  for (const Slot& slot : layout.slots()) size += 2 + slot_size(slot);
  std::vector<std::byte> bytes(size);
  WireWriter writer(bytes);
  for (const Slot& slot : layout.slots()) {
    writer.tag(Fields::kSlotTemplateFieldNumber, WireType::kBytes);
    writer.varint(slot_size(slot));  // at most 18, one byte
    put_varint(writer, v1::SlotTemplate::kKSizeFieldNumber, slot.k_bytes);
    put_varint(writer, v1::SlotTemplate::kVSizeFieldNumber, slot.v_bytes);
    put_varint(writer, v1::SlotTemplate::kNumaNodeFieldNumber, zigzag(slot.numa_node));
  }
  CORAIL_CHECK(writer.full(), "a template's size was computed wrongly");
  return bytes;
}

/// The requester counts the lease from an earlier moment than the holder, so rounding down is safe.
std::uint64_t ttl_ms(const QueryAnswer& answer) {
  if (answer.block_count == 0) return 0;
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(answer.ttl).count();
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(ms, 1, kMaxTtlMs));
}

}  // namespace

std::span<const std::byte> TemplateCache::encoded(const std::shared_ptr<const Layout>& layout) {
  for (const Entry& entry : entries_) {
    if (entry.first == layout) return entry.second;
  }
  Entry fresh(layout, encode_template(*layout));
  if (entries_.size() < kMaxTemplates) {
    entries_.push_back(std::move(fresh));
    return entries_.back().second;
  }
  next_ = (next_ + 1) % kMaxTemplates;
  entries_[next_] = std::move(fresh);
  return entries_[next_].second;
}

FrameBuffer encode_query_answer(const QueryAnswer& answer, TemplateCache& templates) {
  const RunTable& runs = answer.runs;
  const bool empty = answer.block_count == 0;
  const std::uint64_t ttl = ttl_ms(answer);
  const std::uint64_t boot = empty ? 0 : answer.lease.boot.value();
  const std::uint64_t counter = empty ? 0 : answer.lease.counter;
  const std::span<const std::byte> slots =
      empty ? std::span<const std::byte>() : templates.encoded(answer.layout);
  const PackedVarints<std::uint32_t> per_lane(Fields::kRunsPerLaneFieldNumber, runs.runs_per_lane);
  const PackedFixed64 base(Fields::kRunBaseFieldNumber, runs.base);
  // Of an address a segment, these two say nothing.
  const bool has_runs = answer.encoding != AnswerEncoding::kSegments;
  const PackedVarints<std::int64_t> stride(
      Fields::kRunStrideFieldNumber,
      has_runs ? std::span(runs.stride) : std::span<const std::int64_t>());
  const PackedVarints<std::uint32_t> count(
      Fields::kRunCountFieldNumber,
      has_runs ? std::span(runs.count) : std::span<const std::uint32_t>());
  const bool has_parts = !empty && answer.encoding == AnswerEncoding::kParts;
  const codec::PartArrays parts = has_parts ? codec::flatten(answer.parts) : codec::PartArrays();
  const std::size_t parts_size = codec::encoded_size(parts);
  const PackedFixed64 checksums(Fields::kBlockChecksumsFieldNumber, answer.checksums);

  FrameBuffer frame((boot == 0 ? 0 : 1 + sizeof boot) + varint_field_size(counter) +
                    varint_field_size(ttl) + varint_field_size(answer.block_count) +
                    varint_field_size(answer.generation.value()) + slots.size() + per_lane.size() +
                    base.size() + stride.size() + count.size() + checksums.size() +
                    (has_parts ? 1 + varint_bytes(parts_size) + parts_size : 0));
  WireWriter writer(frame.body());
  if (boot != 0) {
    writer.tag(Fields::kLeaseBootIdFieldNumber, WireType::kFixed64);
    writer.fixed64(boot);
  }
  put_varint(writer, Fields::kLeaseCounterFieldNumber, counter);
  put_varint(writer, Fields::kTtlMsFieldNumber, ttl);
  put_varint(writer, Fields::kBlockCountFieldNumber, answer.block_count);
  put_varint(writer, Fields::kTableGenerationFieldNumber, answer.generation.value());
  writer.raw(slots.data(), slots.size());
  per_lane.write(writer);
  base.write(writer);
  stride.write(writer);
  count.write(writer);
  checksums.write(writer);
  if (has_parts) {
    writer.tag(Fields::kPartsFieldNumber, WireType::kBytes);
    writer.varint(parts_size);
    codec::write(parts, writer);
  }
  CORAIL_CHECK(writer.full(), "an answer's size was computed wrongly");
  return frame;
}

}  // namespace corail
