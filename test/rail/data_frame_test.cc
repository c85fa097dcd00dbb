#include "engine/rail/tcp/data_frame.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <span>
#include <string>

#include "engine/base/random.h"

namespace corail::test {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", std::to_integer<unsigned>(byte));
    text += digits;
  }
  return text;
}

Request some_read() {
  Request request;
  request.region = RegionId(0x01020304);
  request.op = OpKey::unpack(0x1112131415161718);
  request.offset = 0x2122232425262728;
  request.length = 0x0102030;
  request.read = ReadId(0x4142434445464748);
  request.epoch = EpochNumber(0x5152535455565758);
  return request;
}

Reply some_data() {
  Reply reply;
  reply.op = OpKey::unpack(0x1112131415161718);
  reply.offset = 0x2122232425262728;
  reply.length = 0x000A0B0C;
  return reply;
}

template <std::size_t kSize>
std::array<std::byte, kSize> random_bytes(Random& random) {
  std::array<std::byte, kSize> bytes;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

BOOST_AUTO_TEST_SUITE(data_frame)

BOOST_AUTO_TEST_CASE(the_bytes_on_the_wire_never_change) {
  ChannelPreface preface;
  for (std::size_t i = 0; i < preface.token.size(); ++i) {
    preface.token[i] = static_cast<std::uint8_t>(0xA0 + i);
  }
  preface.name = 0x6867666564636261;
  BOOST_TEST(hex(encode(preface)) ==
             "636f7261696c44310200000000000000a0a1a2a3a4a5a6a7a8a9aaabacadaeaf6162636465666768");
  ChannelPrefaceAnswer answer;
  answer.answer = ChannelAnswer::kUnknownToken;
  BOOST_TEST(hex(encode(answer)) == "636f7261696c41310200000001000000");
  BOOST_TEST(hex(encode(some_read())) ==
             "01000000040302011817161514131211282726252423222130201000000000004847464544434241"
             "5857565554535251");
  BOOST_TEST(hex(encode(some_data())) ==
             "0100000000000000181716151413121128272625242322210c0b0a0000000000");
}

BOOST_AUTO_TEST_CASE(what_was_encoded_is_decoded) {
  const auto request = decode_request(encode(some_read()));
  BOOST_REQUIRE(request.ok());
  BOOST_TEST(hex(encode(*request)) == hex(encode(some_read())));
  const auto reply = decode_reply(encode(some_data()));
  BOOST_REQUIRE(reply.ok());
  BOOST_TEST(hex(encode(*reply)) == hex(encode(some_data())));
  ChannelPreface preface;
  preface.version = 9;  // to be answered, not to be dropped
  preface.token[3] = 77;
  preface.name = 78;
  const auto decoded = decode_channel_preface(encode(preface));
  BOOST_REQUIRE(decoded.ok());
  BOOST_TEST(decoded->version == 9U);
  BOOST_TEST((decoded->token == preface.token));
  BOOST_TEST(decoded->name == 78U);
}

BOOST_AUTO_TEST_CASE(a_preface_that_comes_back_is_no_answer) {
  const ChannelPrefaceBytes preface = encode(ChannelPreface());
  const auto echoed = std::span(preface).first<kChannelPrefaceAnswerBytes>();
  BOOST_TEST(!decode_channel_preface_answer(echoed).ok());
}

BOOST_AUTO_TEST_CASE(answers_out_of_range_are_refused_unless_they_are_of_another_version) {
  ChannelPrefaceAnswer answer;
  answer.answer = static_cast<ChannelAnswer>(4);
  BOOST_TEST(!decode_channel_preface_answer(encode(answer)).ok());
  answer.version = kChannelVersion + 1;
  BOOST_TEST(decode_channel_preface_answer(encode(answer)).ok());
}

BOOST_AUTO_TEST_CASE(values_out_of_range_are_refused) {
  Request request = some_read();
  request.length = 0;
  BOOST_TEST(!decode_request(encode(request)).ok());
  request.length = kMaxReadBytes + 1;
  BOOST_TEST(!decode_request(encode(request)).ok());
  request.length = kMaxReadBytes;
  BOOST_TEST(decode_request(encode(request)).ok());
  request.offset = ~std::uint64_t{0} - 5;
  BOOST_TEST(!decode_request(encode(request)).ok());
  request = some_read();
  request.kind = static_cast<RequestKind>(3);
  BOOST_TEST(!decode_request(encode(request)).ok());

  Reply reply = some_data();
  reply.length = 0;
  BOOST_TEST(!decode_reply(encode(reply)).ok());
  reply.length = kMaxPayloadBytes + 1;
  BOOST_TEST(!decode_reply(encode(reply)).ok());
  reply.length = kMaxPayloadBytes;
  BOOST_TEST(decode_reply(encode(reply)).ok());
  reply.offset = ~std::uint64_t{0} - 5;
  BOOST_TEST(!decode_reply(encode(reply)).ok());
  reply = some_data();
  reply.kind = static_cast<ReplyKind>(0);
  BOOST_TEST(!decode_reply(encode(reply)).ok());
  reply.kind = ReplyKind::kRefused;
  BOOST_TEST(!decode_reply(encode(reply)).ok());
  reply.refusal = static_cast<Refusal>(3);
  BOOST_TEST(!decode_reply(encode(reply)).ok());
  for (const Errc code : {Errc::kLeaseExpired, Errc::kRefused}) {
    BOOST_TEST((errc_of(refusal_of(code)) == code));
  }
  BOOST_TEST((errc_of(refusal_of(Errc::kOutOfMemory)) == Errc::kRefused));
}

BOOST_AUTO_TEST_CASE(a_foreign_protocol_shows_at_its_first_byte) {
  const ChannelPrefaceBytes preface = encode(ChannelPreface());
  for (std::size_t size = 0; size <= preface.size(); ++size) {
    BOOST_TEST(may_be_channel_preface(std::span(preface).first(size)));
  }
  for (std::size_t wrong = 0; wrong < kChannelMagic.size(); ++wrong) {
    ChannelPrefaceBytes other = preface;
    other[wrong] ^= std::byte{1};
    BOOST_TEST(may_be_channel_preface(std::span(other).first(wrong)));
    BOOST_TEST(!may_be_channel_preface(std::span(other).first(wrong + 1)));
    BOOST_TEST(!decode_channel_preface(other).ok());
  }
}

BOOST_AUTO_TEST_CASE(whatever_decodes_lies_within_the_limits) {
  SeededRandom random(1);
  std::size_t decoded = 0;
  for (int i = 0; i < 20000; ++i) {
    auto request_bytes = random_bytes<kRequestBytes>(random);
    auto reply_bytes = random_bytes<kReplyBytes>(random);
    // Otherwise hardly one in a billion gets past its first field.
    request_bytes[0] = reply_bytes[0] = static_cast<std::byte>(random.below(4));
    for (std::size_t zero = 1; zero < 4; ++zero) {
      request_bytes[zero] = reply_bytes[zero] = std::byte{0};
    }
    for (std::size_t zero = 27; zero < 32; ++zero) {
      request_bytes[zero] = reply_bytes[zero] = std::byte{0};
    }
    const auto request = decode_request(request_bytes);
    if (request.ok() && request->kind == RequestKind::kRead) {
      ++decoded;
      BOOST_TEST((request->length >= 1 && request->length <= kMaxReadBytes));
      BOOST_TEST(request->offset + request->length > request->offset);
    }
    const auto reply = decode_reply(reply_bytes);
    if (reply.ok() && reply->kind == ReplyKind::kData) {
      ++decoded;
      BOOST_TEST((reply->length >= 1 && reply->length <= kMaxPayloadBytes));
      BOOST_TEST(reply->offset + reply->length > reply->offset);
    }
  }
  BOOST_TEST(decoded > 100U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
