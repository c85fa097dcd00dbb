#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/result.h"
#include "engine/plan/lane_range.h"
#include "rpc/frame.h"
#include "rpc/messages.h"

namespace corail {

/// The only place where Protobuf meets the engine's types. Encoders take our own values and cannot
/// fail; decoders take bytes of a stranger and check every value before it is used (I5), with
/// errors (kProtocol where nothing else is said) that name message and field. Pure functions; any
/// thread.

FrameBuffer encode_error(const Error& error);
/// Never fails: an error that cannot be read is one too. Only codes that a peer may decide about
/// are taken over.
Error decode_error(std::span<const std::byte> body);

FrameBuffer encode_hello(const HelloRequest& hello);
Result<HelloRequest> decode_hello(std::span<const std::byte> body);
FrameBuffer encode_hello_answer(const HelloAnswer& answer);
/// Holds the answer against what was asked: version and features within the request's, a method of
/// its list, a step that the request allows.
Result<HelloAnswer> decode_hello_answer(std::span<const std::byte> body, const HelloRequest& asked);

FrameBuffer encode_goodbye(GoodbyeReason reason);
Result<GoodbyeReason> decode_goodbye(std::span<const std::byte> body);

FrameBuffer encode_open_rails(const OpenRailsRequest& request);
Result<OpenRailsRequest> decode_open_rails(std::span<const std::byte> body);
FrameBuffer encode_open_rails_answer(std::span<const RailEndpoint> rails,
                                     const RegionTable& regions);
Result<OpenRailsAnswer> decode_open_rails_answer(std::span<const std::byte> body);

FrameBuffer encode_greet_door(std::uint32_t door, std::string_view words);
Result<GreetDoorRequest> decode_greet_door(std::span<const std::byte> body);
FrameBuffer encode_greet_door_answer(std::string_view words);
Result<std::string> decode_greet_door_answer(std::span<const std::byte> body);

FrameBuffer encode_get_regions();
Result<void> decode_get_regions(std::span<const std::byte> body);
FrameBuffer encode_get_regions_answer(const RegionTable& regions);
Result<RegionTable> decode_get_regions_answer(std::span<const std::byte> body);

FrameBuffer encode_regions_changed(TableGeneration generation);
Result<TableGeneration> decode_regions_changed(std::span<const std::byte> body);

/// The template of a layout as it stands in every answer, encoded once. Bounded: the layouts of a
/// process are few; beyond kMaxTemplates the oldest is encoded anew. Holder's home executor.
class TemplateCache {
 public:
  static constexpr std::size_t kMaxTemplates = 64;
  /// Valid until the next call.
  std::span<const std::byte> encoded(const std::shared_ptr<const Layout>& layout);

 private:
  using Entry = std::pair<std::shared_ptr<const Layout>, std::vector<std::byte>>;
  std::vector<Entry> entries_;
  std::size_t next_ = 0;
};

/// `keys` within the limits of the protocol, as checked by check_query().
FrameBuffer encode_query(ReadId read, const BlockKeys& keys, Duration ttl, std::uint64_t layout_id,
                         AnswerEncoding encoding, Duration wait = {});
/// What a caller may get wrong about a query, with kInvalidArgument or kTooLarge.
Result<void> check_query(ReadId read, const BlockKeys& keys);
Result<QueryBlocks> decode_query(std::span<const std::byte> body);

FrameBuffer encode_query_answer(const QueryAnswer& answer, TemplateCache& templates);
/// What the requester knows by itself and holds the answer against.
struct QueryExpectation {
  std::uint32_t asked_blocks = 0;
  BootId boot;                                      // of the holder, from Hello
  std::shared_ptr<const Layout> layout;             // kLayoutMismatch where the template differs
  AnswerEncoding encoding = AnswerEncoding::kRuns;  // the one asked for
};
Result<TransferAnswer> decode_query_answer(std::span<const std::byte> body,
                                           const QueryExpectation& expected);

FrameBuffer encode_renew(ReadId read, Duration ttl);
struct RenewRequest {
  ReadId read;
  Duration ttl{};  // 0: the holder's default
};
Result<RenewRequest> decode_renew(std::span<const std::byte> body);
FrameBuffer encode_renew_answer(Duration ttl);
Result<Duration> decode_renew_answer(std::span<const std::byte> body);

/// `lanes` of the layout, not empty.
FrameBuffer encode_lane_sums(ReadId read, LaneRange lanes);
struct LaneSumsRequest {
  ReadId read;
  LaneRange lanes;  // not empty, and of what a layout may have
};
Result<LaneSumsRequest> decode_lane_sums(std::span<const std::byte> body);
FrameBuffer encode_lane_sums_answer(const LaneSums& sums);
/// Two for each of the `blocks` of the prefix.
Result<LaneSums> decode_lane_sums_answer(std::span<const std::byte> body, std::uint32_t blocks);

/// ConfirmAndRelease, ConfirmLease, ReleaseLease and QuiesceRead are alike: a read's id, and an
/// empty answer.
FrameBuffer encode_read_id(ReadId read);
Result<ReadId> decode_read_id(Method method, std::span<const std::byte> body);

}  // namespace corail
