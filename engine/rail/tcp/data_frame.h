#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/exec/op_table.h"
#include "engine/rail/rail_endpoint.h"

namespace corail {

// What travels on a data channel. All numbers are little endian, all structures of fixed size.
//
//   requester -> holder   ChannelPreface, then Request...
//   holder -> requester   ChannelPrefaceAnswer, then Reply (+ payload)...
//
// A READ ends with the last byte of its slice, with kCancelled or with kRefused; exactly one of
// them comes, and nothing after it. For an order (PushOrder) only DATA comes, under its number:
// what ends it is the answer to the order, which travels on another connection and may overtake it.
// Decoders check whatever a frame alone can get wrong (I5); whether the operation exists is its
// table's business.

inline constexpr std::array<std::uint8_t, 8> kChannelMagic = {'c', 'o', 'r', 'a',
                                                              'i', 'l', 'D', '1'};
/// Another one, so that a preface which comes back, from an echo service or a socket that was
/// connected to itself, is not taken for the holder's answer.
inline constexpr std::array<std::uint8_t, 8> kChannelAnswerMagic = {'c', 'o', 'r', 'a',
                                                                    'i', 'l', 'A', '1'};
inline constexpr std::uint32_t kChannelVersion = 2;

inline constexpr std::size_t kChannelPrefaceBytes = 40;
/// What the preface of every version so far begins with is as long as this: enough to answer one of
/// another version, which may send no more.
inline constexpr std::size_t kLeastPrefaceBytes = 32;
inline constexpr std::size_t kChannelPrefaceAnswerBytes = 16;
inline constexpr std::size_t kRequestBytes = 48;
inline constexpr std::size_t kReplyBytes = 32;

/// The most that one READ may ask for.
inline constexpr std::uint64_t kMaxReadBytes = 32 * kMiB;
/// The most payload behind one reply, so that a CANCEL stops the holder soon.
inline constexpr std::uint64_t kMaxPayloadBytes = kMiB;
/// The most READs that a channel's holder queues; one more is a breach of protocol (I8).
inline constexpr std::uint32_t kMaxQueuedReads = 1024;

struct ChannelPreface {
  std::uint32_t version = kChannelVersion;
  ChannelToken token{};
  /// What the requester's orders call this channel: no other one that it has open at the door.
  std::uint64_t name = 0;
};

enum class ChannelAnswer : std::uint32_t {
  kAccepted = 0,
  kUnknownToken = 1,
  kOtherVersion = 2,
  kTooManyChannels = 3,
};

struct ChannelPrefaceAnswer {
  std::uint32_t version = kChannelVersion;
  ChannelAnswer answer = ChannelAnswer::kAccepted;
};

enum class RequestKind : std::uint32_t { kRead = 1, kCancel = 2 };

/// READ asks for [offset, offset + length) of a region. CANCEL ends all READs of its read and epoch
/// that were sent before it, and the orders that are being sent, or those of every epoch where it
/// names none (0). The rest of it is zero.
struct Request {
  RequestKind kind = RequestKind::kRead;
  RegionId region;
  OpKey op;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  ReadId read;
  EpochNumber epoch;
};

enum class ReplyKind : std::uint32_t { kData = 1, kCancelled = 2, kRefused = 3 };

/// What a LeaseGate says no with.
enum class Refusal : std::uint32_t { kNone = 0, kRefused = 1, kLeaseExpired = 2 };

/// DATA is followed by `length` bytes, which belong at `offset` of the operation's slice.
struct Reply {
  ReplyKind kind = ReplyKind::kData;
  Refusal refusal = Refusal::kNone;
  OpKey op;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

using ChannelPrefaceBytes = std::array<std::byte, kChannelPrefaceBytes>;
using ChannelPrefaceAnswerBytes = std::array<std::byte, kChannelPrefaceAnswerBytes>;
using RequestBytes = std::array<std::byte, kRequestBytes>;
using ReplyBytes = std::array<std::byte, kReplyBytes>;

ChannelPrefaceBytes encode(const ChannelPreface& preface) noexcept;
ChannelPrefaceAnswerBytes encode(const ChannelPrefaceAnswer& answer) noexcept;
RequestBytes encode(const Request& request) noexcept;
ReplyBytes encode(const Reply& reply) noexcept;

/// Whether these first bytes of a connection can still become a preface.
bool may_be_channel_preface(std::span<const std::byte> first) noexcept;

/// kProtocol: not of this protocol, or a value out of its range. A preface of another version is a
/// success, so that it can be answered; so is an answer of one, whatever else it says.
Result<ChannelPreface> decode_channel_preface(
    std::span<const std::byte, kChannelPrefaceBytes> bytes);
Result<ChannelPrefaceAnswer> decode_channel_preface_answer(
    std::span<const std::byte, kChannelPrefaceAnswerBytes> bytes);
Result<Request> decode_request(std::span<const std::byte, kRequestBytes> bytes);
Result<Reply> decode_reply(std::span<const std::byte, kReplyBytes> bytes);

/// What a gate's error becomes on the wire, and back. Other codes become a plain refusal.
Refusal refusal_of(Errc code) noexcept;
Errc errc_of(Refusal refusal) noexcept;

}  // namespace corail
