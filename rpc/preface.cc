#include "rpc/preface.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "rpc/little_endian.h"
#include "rpc/printable.h"
#include "rpc/stream_deadline.h"

namespace corail {
namespace {

/// How much of a foreign greeting is quoted.
constexpr std::size_t kQuotedBytes = 48;

std::string first_line(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto line = text.substr(0, std::min(text.find_first_of("\r\n"), kQuotedBytes));
  return printable(line.empty() ? text.substr(0, kQuotedBytes) : line);
}

bool asks_for_http(std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const std::string_view verb : {"GET ", "HEAD ", "POST ", "PUT ", "OPTIONS ", "DELETE "}) {
    if (text.starts_with(verb)) return true;
  }
  return false;
}

Task<Result<void>> read_preface(BufferedReader& reader) {
  for (;;) {
    const auto state = check_preface(reader.buffered());
    if (!state.ok()) co_return state.error();
    if (*state == PrefaceState::kComplete) {
      reader.consume(kPrefaceBytes);
      co_return ok_result();
    }
    const auto got = co_await reader.fill();
    if (!got.ok()) co_return got.error();
    if (*got == 0) {
      co_return Error(Errc::kConnectionLost,
                      "the peer closed the connection before it said which protocol it speaks; "
                      "check that the address is a corail node's control address");
    }
  }
}

/// The error as the caller of the exchange should see it.
Result<void> explained(Result<void> outcome, const StreamDeadline& guard, ByteStream& stream) {
  if (outcome.ok()) return outcome;
  Error error = std::move(outcome).error();
  if (guard.expired()) {
    error = Error(Errc::kDeadline,
                  "the peer did not say in time which protocol it speaks; check that the address "
                  "is a corail node's control address");
  }
  return std::move(error).at(Stage::kConnect).on_peer(stream.peer_name());
}

Task<Result<void>> write_bytes(ByteStream& stream, std::span<const std::byte> bytes) {
  std::vector<std::span<const std::byte>> buffers;
  buffers.push_back(bytes);
  auto written = co_await stream.write_all(std::move(buffers));
  co_return written;
}

}  // namespace

Preface make_preface(std::uint32_t framing_version) noexcept {
  Preface preface{};
  for (std::size_t i = 0; i < kPrefaceMagic.size(); ++i) {
    preface[i] = static_cast<std::byte>(kPrefaceMagic[i]);
  }
  store_little_endian(preface.data() + kPrefaceMagic.size(), framing_version);
  return preface;
}

Result<PrefaceState> check_preface(std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < std::min(bytes.size(), kPrefaceMagic.size()); ++i) {
    if (bytes[i] == static_cast<std::byte>(kPrefaceMagic[i])) continue;
    return Error(Errc::kIncompatible,
                 fmt::format("the peer does not speak corail's protocol: it sent \"{}\"; check "
                             "that the address is a corail node's control address",
                             first_line(bytes)));
  }
  if (bytes.size() < kPrefaceBytes) return PrefaceState::kNeedMore;
  const auto version = load_little_endian<std::uint32_t>(bytes.data() + kPrefaceMagic.size());
  if (version != kFramingVersion) {
    return Error(Errc::kIncompatible,
                 fmt::format("the peer speaks version {} of corail's framing and this node version "
                             "{}; run the same release on both",
                             version, kFramingVersion));
  }
  return PrefaceState::kComplete;
}

std::string foreign_reply(std::span<const std::byte> bytes) {
  std::string sentence = fmt::format(
      "This is a corail node's control port; it speaks corail's own protocol, not what \"{}\" "
      "belongs to.\n",
      first_line(bytes));
  if (!asks_for_http(bytes)) return sentence;
  return fmt::format(
      "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      sentence.size(), sentence);
}

Task<Result<void>> exchange_preface_as_client(asio::any_io_executor executor, ByteStream& stream,
                                              BufferedReader& reader, Clock& clock,
                                              TimePoint deadline) {
  const StreamDeadline guard(executor, clock, stream, deadline);
  const Preface mine = make_preface(kFramingVersion);
  const auto written = co_await write_bytes(stream, mine);
  if (!written.ok()) co_return explained(written, guard, stream);
  const auto read = co_await read_preface(reader);
  co_return explained(read, guard, stream);
}

Task<Result<void>> exchange_preface_as_server(asio::any_io_executor executor, ByteStream& stream,
                                              BufferedReader& reader, Clock& clock,
                                              TimePoint deadline) {
  const StreamDeadline guard(executor, clock, stream, deadline);
  const auto read = co_await read_preface(reader);
  const bool spoke = !reader.buffered().empty();
  if (!read.ok() && (read.error().code() != Errc::kIncompatible || !spoke)) {
    co_return explained(read, guard, stream);
  }
  // Even a peer of another framing version learns ours, and a foreign one a sentence in text.
  const Preface mine = make_preface(kFramingVersion);
  std::string text;
  std::span<const std::byte> reply = mine;
  const bool foreign = !read.ok() && reader.buffered()[0] != mine[0];
  if (foreign) {
    text = foreign_reply(reader.buffered());
    reply = std::as_bytes(std::span<const char>(text));
  }
  const auto written = co_await write_bytes(stream, reply);
  if (!read.ok()) co_return explained(read, guard, stream);
  co_return explained(written, guard, stream);
}

}  // namespace corail
