#include "rpc/frame.h"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>

#include "rpc/preface.h"
#include "test/rpc/bytes.h"

namespace corail::test {
namespace {

using Header = std::array<std::byte, kFrameHeaderBytes>;

bool refused(const FrameHeader& header, std::string_view because) {
  const auto decoded = decode_header(encode_header(header));
  return !decoded.ok() && decoded.error().code() == Errc::kProtocol &&
         decoded.error().detail().find(because) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(frames)

BOOST_AUTO_TEST_CASE(golden_bytes) {
  const FrameHeader header{0x0102, FrameKind::kAnswerEnd, Method::kQueryBlocksForTransfer,
                           0x1122334455667788};
  const Header bytes = encode_header(header);
  BOOST_TEST(hex_of(bytes) ==
             "02010000"
             "03"
             "00"
             "1000"
             "8877665544332211");
  const auto decoded = decode_header(bytes);
  BOOST_REQUIRE(decoded.ok());
  BOOST_TEST(decoded->length == header.length);
  BOOST_TEST((decoded->kind == header.kind && decoded->method == header.method));
  BOOST_TEST(decoded->id == header.id);

  FrameBuffer frame = frame_of("ab");
  frame.set_header(FrameKind::kRequest, Method::kHello, 1);
  BOOST_TEST(hex_of(frame.bytes()) ==
             "02000000010001000100000000000000"
             "6162");
}

BOOST_AUTO_TEST_CASE(lengths_are_held_against_the_limit_of_kind_and_method) {
  const auto most = [](FrameKind kind, Method method, std::uint32_t limit) {
    BOOST_TEST(decode_header(encode_header({limit, kind, method, 1})).ok());
    BOOST_TEST(refused({limit + 1, kind, method, 1}, "more than the"));
    BOOST_TEST(refused({std::numeric_limits<std::uint32_t>::max(), kind, method, 1}, "4294967295"));
  };
  most(FrameKind::kRequest, Method::kHello, 64 * 1024);
  most(FrameKind::kRequest, Method::kQueryBlocksForTransfer, 5 << 20);
  most(FrameKind::kAnswerEnd, Method::kQueryBlocksForTransfer, kMaxFrameBytes);
  most(FrameKind::kAnswerPart, Method::kConfirmAndRelease, 4096);
  most(FrameKind::kNotify, Method::kRegionsChanged, 4096);
  most(FrameKind::kError, Method::kHello, kMaxErrorBytes);
  most(FrameKind::kCancel, Method::kHello, 0);
  most(FrameKind::kPing, Method::kNone, 0);
  most(FrameKind::kPong, Method::kNone, 0);
  most(FrameKind::kRequest, static_cast<Method>(999), 64 * 1024);
}

BOOST_AUTO_TEST_CASE(unknown_kinds_flags_and_missing_ids_are_refused) {
  for (unsigned kind = 0; kind < 256; ++kind) {
    const auto decoded =
        decode_header(encode_header({0, static_cast<FrameKind>(kind), Method::kHello, 1}));
    BOOST_TEST(decoded.ok() == (kind >= 1 && kind <= 8));
  }
  Header flagged = encode_header({0, FrameKind::kPing, Method::kNone, 0});
  flagged[5] = std::byte{1};
  BOOST_TEST(!decode_header(flagged).ok());
  for (const auto kind : {FrameKind::kRequest, FrameKind::kAnswerEnd, FrameKind::kCancel}) {
    BOOST_TEST(refused({0, kind, Method::kHello, 0}, "without a call's id"));
  }
  BOOST_TEST(decode_header(encode_header({0, FrameKind::kError, Method::kNone, 0})).ok());
}

BOOST_AUTO_TEST_CASE(random_headers_pass_only_within_the_limits) {
  SeededRandom random(7);
  std::size_t passed = 0;
  for (int i = 0; i < 200'000; ++i) {
    Header bytes = encode_header({static_cast<std::uint32_t>(random.next() >> random.below(64)),
                                  static_cast<FrameKind>(random.below(10)),
                                  static_cast<Method>(random.below(24)), random.below(3)});
    if (random.below(4) == 0)
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
    const auto decoded = decode_header(bytes);
    if (!decoded.ok()) continue;
    ++passed;
    BOOST_REQUIRE(decoded->length <= kMaxFrameBytes);
  }
  BOOST_TEST(passed > 1000U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(prefaces)

BOOST_AUTO_TEST_CASE(golden_bytes_and_prefixes) {
  const Preface preface = make_preface(kFramingVersion);
  BOOST_TEST(hex_of(preface) ==
             "89636f7261696c0a"
             "01000000"
             "00000000");
  for (std::size_t size = 0; size < kPrefaceBytes; ++size) {
    const auto state = check_preface(std::span(preface).first(size));
    BOOST_REQUIRE(state.ok());
    BOOST_TEST((*state == PrefaceState::kNeedMore));
  }
  const auto state = check_preface(preface);
  BOOST_REQUIRE(state.ok());
  BOOST_TEST((*state == PrefaceState::kComplete));
}

BOOST_AUTO_TEST_CASE(a_foreign_protocol_is_known_by_its_first_byte) {
  for (unsigned first = 0; first < 256; ++first) {
    if (first == kPrefaceMagic[0]) continue;
    const std::array<std::byte, 1> bytes{static_cast<std::byte>(first)};
    const auto state = check_preface(bytes);
    BOOST_REQUIRE(!state.ok());
    BOOST_TEST((state.error().code() == Errc::kIncompatible));
  }
  const auto http = check_preface(bytes_of("HTTP/1.1 400 Bad Request\r\nServer: x\r\n"));
  BOOST_REQUIRE(!http.ok());
  BOOST_TEST(http.error().detail() ==
             "the peer does not speak corail's protocol: it sent \"HTTP/1.1 400 Bad Request\"; "
             "check that the address is a corail node's control address");
  const auto tls = check_preface(bytes_of(std::string_view("\x16\x03\x01\x02\x00", 5)));
  BOOST_REQUIRE(!tls.ok());
  BOOST_TEST(tls.error().detail().find("\"?????\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(another_framing_version_is_told_as_such) {
  const auto state = check_preface(make_preface(2));
  BOOST_REQUIRE(!state.ok());
  BOOST_TEST((state.error().code() == Errc::kIncompatible));
  BOOST_TEST(state.error().detail() ==
             "the peer speaks version 2 of corail's framing and this node version 1; run the same "
             "release on both");
}

BOOST_AUTO_TEST_CASE(text_clients_are_answered_in_text) {
  const std::string http = foreign_reply(bytes_of("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"));
  BOOST_TEST(http.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  BOOST_TEST(http.find("\"GET /metrics HTTP/1.1\"") != std::string::npos);
  BOOST_TEST(foreign_reply(bytes_of("EHLO x\r\n")).starts_with("This is a corail node"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
