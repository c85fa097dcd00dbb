#include "engine/plan/layout.h"
#include "proto/corail/v1/blocks.pb.h"
#include "rpc/codec.h"
#include "rpc/codec_fields.h"
#include "rpc/packed.h"

namespace corail {
namespace {

using Answer = v1::LaneSumsAnswer;
constexpr std::string_view kRequest = "LaneSumsRequest";
constexpr std::string_view kAnswer = "LaneSumsAnswer";
/// K and V of the most slots that a layout may have.
constexpr std::uint32_t kMaxLanes = 2 * kMaxSlots;

}  // namespace

FrameBuffer encode_lane_sums(ReadId read, LaneRange lanes) {
  v1::LaneSumsRequest message;
  message.set_read_id(read.value());
  message.set_lane_begin(lanes.begin);
  message.set_lane_end(lanes.end);
  return codec::to_frame(message);
}

Result<LaneSumsRequest> decode_lane_sums(std::span<const std::byte> body) {
  v1::LaneSumsRequest message;
  const auto parsed = codec::parse(kRequest, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.read_id() == 0) return codec::field_error(kRequest, "read_id", "is 0");
  if (message.lane_begin() >= message.lane_end()) {
    return codec::field_error(kRequest, "lane_end", "is {}, not above lane_begin, which is {}",
                              message.lane_end(), message.lane_begin());
  }
  if (message.lane_end() > kMaxLanes) {
    return codec::field_error(kRequest, "lane_end", "is {}, more than the {} that a layout has",
                              message.lane_end(), kMaxLanes);
  }
  LaneSumsRequest request;
  request.read = ReadId(message.read_id());
  request.lanes = LaneRange{message.lane_begin(), message.lane_end()};
  return request;
}

FrameBuffer encode_lane_sums_answer(const LaneSums& sums) {
  const PackedFixed64 of_range(Answer::kSumsFieldNumber, sums.sums);
  const PackedFixed64 of_rest(Answer::kRestsFieldNumber, sums.rests);
  FrameBuffer frame(of_range.size() + of_rest.size());
  WireWriter writer(frame.body());
  of_range.write(writer);
  of_rest.write(writer);
  CORAIL_CHECK(writer.full(), "the size of lane sums was computed wrongly");
  return frame;
}

Result<LaneSums> decode_lane_sums_answer(std::span<const std::byte> body, std::uint32_t blocks) {
  LaneSums sums;
  sums.sums.reserve(blocks);
  sums.rests.reserve(blocks);
  WireReader reader(body);
  while (reader.next()) {
    const bool rest = reader.field() == Answer::kRestsFieldNumber;
    if (!rest && reader.field() != Answer::kSumsFieldNumber) continue;  // of a later version
    if (!append_fixed64(reader, blocks, rest ? sums.rests : sums.sums)) {
      return codec::field_error(kAnswer, rest ? "rests" : "sums",
                                "is no array of at most {} numbers", blocks);
    }
  }
  if (!reader.ok()) return codec::malformed(kAnswer);
  if (sums.sums.size() == blocks && sums.rests.size() == blocks) return sums;
  return codec::field_error(kAnswer, "sums", "has {} elements and rests {}, for {} blocks",
                            sums.sums.size(), sums.rests.size(), blocks);
}

}  // namespace corail
