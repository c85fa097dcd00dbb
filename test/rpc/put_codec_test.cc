// The messages of puts: their bytes as they have to stay, and what a stranger may not say in them.
#include "rpc/put_codec.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>

#include "engine/object/descriptor_check.h"
#include "proto/corail/v1/puts.pb.h"
#include "test/rpc/bytes.h"
#include "test/rpc/codec_checks.h"

namespace corail::test {
namespace {

PutRequest put_of(std::string key, std::uint64_t size, std::uint64_t stripe_size) {
  PutRequest request;
  request.key = std::move(key);
  request.size = size;
  request.stripe_size = stripe_size;
  return request;
}

PutStripeRequest a_stripe() {
  PutStripeRequest request;
  request.put = ObjectGeneration(7);
  request.stripe = 3;
  request.read = ReadId(kFirstPutRead + 1);
  request.regions = TableGeneration(5);
  request.address = 0x1000;
  request.checksum = Checksum64(0x0102030405060708);
  return request;
}

BOOST_AUTO_TEST_SUITE(messages_of_puts)

BOOST_AUTO_TEST_CASE(begin_put) {
  PutRequest request = put_of("a", 300, kGranuleBytes);
  Bytes body = body_of(encode_begin_put(request));
  BOOST_TEST(hex_of(body) ==
             "0a0161"      // key
             "10ac02"      // size
             "18808010");  // stripe_size
  auto decoded = decode_begin_put(body);
  BOOST_REQUIRE(decoded.ok());
  BOOST_TEST(decoded->key == "a");
  BOOST_TEST(decoded->size == 300U);
  BOOST_TEST(decoded->stripe_size == kGranuleBytes);
  BOOST_TEST(!decoded->if_generation.has_value());
  // "Only while there is no such key" is not "whatever there is".
  request.if_generation = ObjectGeneration(0);
  body = body_of(encode_begin_put(request));
  BOOST_TEST(hex_of(body) == "0a016110ac02188080102000");
  decoded = decode_begin_put(body);
  BOOST_REQUIRE(decoded.ok());
  BOOST_REQUIRE(decoded->if_generation.has_value());
  BOOST_TEST(decoded->if_generation->value() == 0U);
}

BOOST_AUTO_TEST_CASE(begin_put_answer) {
  const Bytes body = body_of(encode_begin_put_answer(ObjectGeneration(9)));
  BOOST_TEST(hex_of(body) == "0809");
  BOOST_TEST(decode_begin_put_answer(body).value().value() == 9U);
  check_names(decode_begin_put_answer(Bytes()), "generation");
}

BOOST_AUTO_TEST_CASE(put_stripe) {
  const Bytes body = body_of(encode_put_stripe(a_stripe()));
  BOOST_TEST(hex_of(body) ==
             "0807"                  // generation
             "1003"                  // stripe
             "190100000000000080"    // read_id
             "2005"                  // table_generation
             "290010000000000000"    // address
             "310807060504030201");  // checksum
  const auto decoded = decode_put_stripe(body);
  BOOST_REQUIRE(decoded.ok());
  BOOST_TEST(decoded->put.value() == 7U);
  BOOST_TEST(decoded->stripe == 3U);
  BOOST_TEST(decoded->read.value() == kFirstPutRead + 1);
  BOOST_TEST(decoded->regions.value() == 5U);
  BOOST_TEST(decoded->address == 0x1000U);
  BOOST_TEST(decoded->checksum.value() == 0x0102030405060708U);
}

BOOST_AUTO_TEST_CASE(end_put) {
  const Bytes body = body_of(encode_end_put(ObjectGeneration(300)));
  BOOST_TEST(hex_of(body) == "08ac02");
  BOOST_TEST(decode_end_put(Method::kCommitPut, body).value().value() == 300U);
  const auto none = decode_end_put(Method::kAbortPut, Bytes());
  check_names(none, "generation");
  check_names(none, "AbortPut");
}

BOOST_AUTO_TEST_CASE(sizes_and_keys_are_checked) {
  const auto decode = [](const PutRequest& request) {
    return decode_begin_put(body_of(encode_begin_put(request)));
  };
  const std::string longest(kMaxObjectKeyBytes, 'k');
  const std::uint64_t most = kMaxObjectStripes * kGranuleBytes;
  BOOST_TEST(decode(put_of(longest, most, kGranuleBytes)).ok());
  BOOST_TEST(decode(put_of("k", 0, kMaxStripeBytes)).ok());
  check_names(decode(put_of("", 1, kGranuleBytes)), "key");
  check_names(decode(put_of(longest + "k", 1, kGranuleBytes)), "key");
  check_names(decode(put_of("k", most + 1, kGranuleBytes)), "size");
  check_names(decode(put_of("k", ~std::uint64_t{0}, kMaxStripeBytes)), "size");
  check_names(decode(put_of("k", 1, 0)), "stripe_size");
  check_names(decode(put_of("k", 1, kGranuleBytes + 1)), "stripe_size");
  check_names(decode(put_of("k", 1, kMaxStripeBytes + kGranuleBytes)), "stripe_size");
}

BOOST_AUTO_TEST_CASE(what_a_stripe_may_not_say) {
  const auto decode = [](const PutStripeRequest& request) {
    return decode_put_stripe(body_of(encode_put_stripe(request)));
  };
  BOOST_TEST(decode(a_stripe()).ok());
  PutStripeRequest wrong = a_stripe();
  wrong.put = ObjectGeneration(0);
  check_names(decode(wrong), "generation");
  wrong = a_stripe();
  wrong.stripe = static_cast<std::uint32_t>(kMaxObjectStripes);
  check_names(decode(wrong), "stripe");
  // An id that a requester may have for a read of its own over the same rails.
  wrong = a_stripe();
  wrong.read = ReadId(kFirstPutRead - 1);
  check_names(decode(wrong), "read_id");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_message) {
  const Bytes garbage = bytes_of(std::string("\xff\xff\xff", 3));
  BOOST_TEST(!decode_begin_put(garbage).ok());
  BOOST_TEST(!decode_begin_put_answer(garbage).ok());
  BOOST_TEST(!decode_put_stripe(garbage).ok());
  BOOST_TEST(!decode_end_put(Method::kCommitPut, garbage).ok());
}

BOOST_AUTO_TEST_CASE(bodies_fit_their_limits) {
  PutRequest request = put_of(std::string(kMaxObjectKeyBytes, 'k'), ~std::uint64_t{0}, kGiB);
  request.if_generation = ObjectGeneration(~std::uint64_t{0});
  BOOST_TEST(body_of(encode_begin_put(request)).size() <=
             limits_of(Method::kBeginPut).request_bytes);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
