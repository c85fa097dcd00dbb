#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/task.h"
#include "rpc/buffered_reader.h"

namespace corail {

/// The first 16 bytes in each direction of a control connection: 8 bytes of magic, the version of
/// the framing u32, zero u32, little-endian. The first magic byte is no ASCII and the last is a
/// line feed, so that neither side can take text for it, and vice versa.
inline constexpr std::size_t kPrefaceBytes = 16;
inline constexpr std::array<std::uint8_t, 8> kPrefaceMagic = {0x89, 'c', 'o', 'r',
                                                              'a',  'i', 'l', '\n'};
/// Version of the frames; that of the messages is negotiated in Hello.
inline constexpr std::uint32_t kFramingVersion = 1;

using Preface = std::array<std::byte, kPrefaceBytes>;
Preface make_preface(std::uint32_t framing_version) noexcept;

/// What the bytes read so far say about the peer. More bytes may be needed; a foreign protocol is
/// recognised by its first byte already (kIncompatible, with what it sent).
enum class PrefaceState { kNeedMore, kComplete };
Result<PrefaceState> check_preface(std::span<const std::byte> bytes);

/// What a text protocol's client is told before it is cut off: one sentence, as an HTTP response
/// where it asked for one.
std::string foreign_reply(std::span<const std::byte> bytes);

/// Exchange the prefaces before `deadline`; at its expiry the stream is closed. The caller of the
/// connection speaks first. Fails with kIncompatible (foreign protocol or framing version),
/// kDeadline, or what the stream says. The arguments outlive the call.
Task<Result<void>> exchange_preface_as_client(asio::any_io_executor executor, ByteStream& stream,
                                              BufferedReader& reader, Clock& clock,
                                              TimePoint deadline);
Task<Result<void>> exchange_preface_as_server(asio::any_io_executor executor, ByteStream& stream,
                                              BufferedReader& reader, Clock& clock,
                                              TimePoint deadline);

}  // namespace corail
