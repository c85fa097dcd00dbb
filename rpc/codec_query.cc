// The calls about one read. The query is written and read by hand: generated code would copy each
// of up to 65,536 hashes into a string of its own, twice on either side.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/checksum.h"
#include "proto/corail/v1/blocks.pb.h"
#include "rpc/codec.h"
#include "rpc/codec_fields.h"

namespace corail {
namespace {

using Fields = v1::QueryBlocksForTransferRequest;
constexpr std::string_view kQuery = "QueryBlocksForTransferRequest";
constexpr std::size_t kMaxHashes = 65'536;

std::size_t bytes_field_size(std::size_t bytes) { return 1 + varint_bytes(bytes) + bytes; }

void put_bytes(WireWriter& writer, std::uint32_t field, std::string_view bytes) {
  writer.tag(field, WireType::kBytes);
  writer.varint(bytes.size());
  writer.raw(bytes.data(), bytes.size());
}

/// Milliseconds of a wish, rounded up; 0 stays "the holder's default".
std::uint32_t wish_ms(Duration ttl) {
  if (ttl <= Duration::zero()) return 0;
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(ttl).count();
  return static_cast<std::uint32_t>(std::min<std::int64_t>(ms, kMaxTtlMs));
}

Result<void> take_ms(std::string_view field, std::uint64_t ms, Duration& time) {
  if (ms > kMaxTtlMs) {
    return codec::field_error(kQuery, field, "is {}, more than {}", ms, kMaxTtlMs);
  }
  time = std::chrono::milliseconds(ms);
  return ok_result();
}

Result<void> take_field(const WireReader& reader, QueryBlocks& query) {
  switch (reader.field()) {
    case Fields::kReadIdFieldNumber:
      if (!reader.is(WireType::kVarint)) break;
      query.read = ReadId(reader.number());
      return ok_result();
    case Fields::kNameSpaceFieldNumber:
      if (!reader.is(WireType::kBytes)) break;
      query.name_space = reader.text();
      return codec::check_length(kQuery, "name_space", query.name_space.size(), kMaxNamespaceBytes);
    case Fields::kHashesFieldNumber:
      if (!reader.is(WireType::kBytes)) break;
      if (query.hashes.size() >= kMaxHashes) {
        return codec::field_error(kQuery, "hashes", "has more than the {} elements allowed",
                                  kMaxHashes);
      }
      if (reader.bytes().empty() || reader.bytes().size() > kMaxHashBytes) {
        return codec::field_error(kQuery, "hashes", "[{}] has {} bytes instead of 1 to {}",
                                  query.hashes.size(), reader.bytes().size(), kMaxHashBytes);
      }
      query.hashes.push_back(reader.text());
      return ok_result();
    case Fields::kTtlMsFieldNumber:
      if (!reader.is(WireType::kVarint)) break;
      return take_ms("ttl_ms", reader.number(), query.ttl);
    case Fields::kWaitMsFieldNumber:
      if (!reader.is(WireType::kVarint)) break;
      return take_ms("wait_ms", reader.number(), query.wait);
    case Fields::kLayoutIdFieldNumber:
      if (!reader.is(WireType::kFixed64)) break;
      query.layout_id = reader.number();
      return ok_result();
    case Fields::kEncodingFieldNumber:
      if (!reader.is(WireType::kVarint)) break;
      if (reader.number() > static_cast<std::uint64_t>(AnswerEncoding::kSegments)) {
        return codec::field_error(kQuery, "encoding", "is {}, which this node does not know",
                                  reader.number());
      }
      query.encoding = static_cast<AnswerEncoding>(reader.number());
      return ok_result();
    default:
      return ok_result();  // of a later version
  }
  return codec::field_error(kQuery, std::to_string(reader.field()), "has the wrong wire type");
}

/// Fails when a hash is there twice. A holder would refuse it as well, with fewer words.
Result<void> check_no_repeats(const std::vector<std::string>& hashes) {
  // An open-addressing table of positions plus 1, at most half full: it costs a fetch of a thousand
  // blocks a few microseconds.
  std::vector<std::uint32_t> table(std::bit_ceil(2 * hashes.size()));
  const std::size_t mask = table.size() - 1;
  for (std::uint32_t i = 0; i < hashes.size(); ++i) {
    std::size_t at = xxh3_64(hashes[i]) & mask;
    for (; table[at] != 0; at = (at + 1) & mask) {
      const std::uint32_t earlier = table[at] - 1;
      if (hashes[earlier] != hashes[i]) continue;
      return Error(Errc::kInvalidArgument, Stage::kQuery,
                   fmt::format("hashes {} and {} are the same; each block is read once, so ask for "
                               "it once",
                               earlier, i));
    }
    table[at] = i + 1;
  }
  return ok_result();
}

static_assert(int{v1::RUNS} == static_cast<int>(AnswerEncoding::kRuns));
static_assert(int{v1::PARTS} == static_cast<int>(AnswerEncoding::kParts));
static_assert(int{v1::SEGMENTS} == static_cast<int>(AnswerEncoding::kSegments));

}  // namespace

Result<void> check_query(ReadId read, const BlockKeys& keys) {
  if (read.value() == 0) return Error(Errc::kInvalidArgument, Stage::kQuery, "read id 0 is none");
  if (keys.name_space.size() > kMaxNamespaceBytes) {
    return Error(Errc::kInvalidArgument, Stage::kQuery,
                 fmt::format("the namespace has {} bytes, more than the {} allowed",
                             keys.name_space.size(), kMaxNamespaceBytes));
  }
  if (keys.hashes.empty()) {
    return Error(Errc::kInvalidArgument, Stage::kQuery, "no blocks were asked for");
  }
  if (keys.hashes.size() > kMaxHashes) {
    return Error(Errc::kTooLarge, Stage::kQuery,
                 fmt::format("{} blocks were asked for at once, more than the {} allowed; ask in "
                             "several reads",
                             keys.hashes.size(), kMaxHashes));
  }
  for (std::size_t i = 0; i < keys.hashes.size(); ++i) {
    const std::size_t bytes = keys.hashes[i].size();
    if (bytes >= 1 && bytes <= kMaxHashBytes) continue;
    return Error(Errc::kInvalidArgument, Stage::kQuery,
                 fmt::format("hash {} has {} bytes instead of 1 to {}", i, bytes, kMaxHashBytes));
  }
  return check_no_repeats(keys.hashes);
}

FrameBuffer encode_query(ReadId read, const BlockKeys& keys, Duration ttl, std::uint64_t layout_id,
                         AnswerEncoding encoding, Duration wait) {
  const auto encoding_number = static_cast<std::uint64_t>(encoding);
  const std::uint32_t wait_ms = wish_ms(wait);
  const std::uint32_t ttl_ms = wish_ms(ttl);
  std::size_t size = 1 + varint_bytes(read.value());
  if (!keys.name_space.empty()) size += bytes_field_size(keys.name_space.size());
  for (const std::string& hash : keys.hashes) size += bytes_field_size(hash.size());
  if (ttl_ms != 0) size += 1 + varint_bytes(ttl_ms);
  if (layout_id != 0) size += 1 + sizeof layout_id;
  if (encoding_number != 0) size += 1 + varint_bytes(encoding_number);
  if (wait_ms != 0) size += 1 + varint_bytes(wait_ms);

  FrameBuffer frame(size);
  WireWriter writer(frame.body());
  writer.tag(Fields::kReadIdFieldNumber, WireType::kVarint);
  writer.varint(read.value());
  if (!keys.name_space.empty()) put_bytes(writer, Fields::kNameSpaceFieldNumber, keys.name_space);
  for (const std::string& hash : keys.hashes) put_bytes(writer, Fields::kHashesFieldNumber, hash);
  if (ttl_ms != 0) {
    writer.tag(Fields::kTtlMsFieldNumber, WireType::kVarint);
    writer.varint(ttl_ms);
  }
  if (layout_id != 0) {
    writer.tag(Fields::kLayoutIdFieldNumber, WireType::kFixed64);
    writer.fixed64(layout_id);
  }
  if (encoding_number != 0) {
    writer.tag(Fields::kEncodingFieldNumber, WireType::kVarint);
    writer.varint(encoding_number);
  }
  if (wait_ms != 0) {
    writer.tag(Fields::kWaitMsFieldNumber, WireType::kVarint);
    writer.varint(wait_ms);
  }
  CORAIL_CHECK(writer.full(), "a query's size was computed wrongly");
  return frame;
}

Result<QueryBlocks> decode_query(std::span<const std::byte> body) {
  QueryBlocks query;
  WireReader reader(body);
  while (reader.next()) {
    const auto taken = take_field(reader, query);
    if (!taken.ok()) return taken.error();
  }
  if (!reader.ok()) return codec::malformed(kQuery);
  if (query.read.value() == 0) return codec::field_error(kQuery, "read_id", "is 0");
  if (query.hashes.empty()) return codec::field_error(kQuery, "hashes", "is empty");
  return query;
}

FrameBuffer encode_read_id(ReadId read) {
  // The requests about a read and nothing else have one field, of one number and type.
  v1::ConfirmAndReleaseRequest message;
  message.set_read_id(read.value());
  return codec::to_frame(message);
}

static_assert(int{v1::ConfirmAndReleaseRequest::kReadIdFieldNumber} ==
              int{v1::ReleaseLeaseRequest::kReadIdFieldNumber});
static_assert(int{v1::ConfirmAndReleaseRequest::kReadIdFieldNumber} ==
              int{v1::ConfirmLeaseRequest::kReadIdFieldNumber});
static_assert(int{v1::ConfirmAndReleaseRequest::kReadIdFieldNumber} ==
              int{v1::QuiesceReadRequest::kReadIdFieldNumber});

Result<ReadId> decode_read_id(Method method, std::span<const std::byte> body) {
  const std::string_view name = limits_of(method).name;
  v1::ConfirmAndReleaseRequest message;
  const auto parsed = codec::parse(name, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.read_id() == 0) return codec::field_error(name, "read_id", "is 0");
  return ReadId(message.read_id());
}

}  // namespace corail
