// Opening an object and ordering its bytes, as it has to stay and as a stranger may send it.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/object/descriptor_check.h"
#include "engine/object/striping_info.h"
#include "proto/corail/v1/objects.pb.h"
#include "rpc/messages.h"
#include "rpc/method.h"
#include "rpc/object_codec.h"
#include "test/rpc/bytes.h"
#include "test/rpc/codec_checks.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

OpenObjectRequest open_request() {
  OpenObjectRequest request;
  request.read = ReadId(77);
  request.key = "ab";
  request.generation = ObjectGeneration(300);
  request.snapshot = true;
  request.ttl = std::chrono::seconds(1);
  request.want_addresses = true;
  request.granules_of = {0, 300};
  return request;
}

v1::OpenObjectRequest open_message() {
  v1::OpenObjectRequest message;
  const Bytes body = body_of(encode_open_object(open_request()));
  BOOST_REQUIRE(message.ParseFromArray(body.data(), static_cast<int>(body.size())));
  return message;
}

OpenObjectAnswer open_answer() {
  OpenObjectAnswer answer;
  answer.ttl = std::chrono::milliseconds(300);
  answer.in_memory = true;
  answer.addresses = {0x1000, 0x2000};
  answer.regions = TableGeneration(9);
  answer.most_pushed = kGranuleBytes;
  answer.granules = {5};
  return answer;
}

ReadStripesRequest order_request() {
  ReadStripesRequest request;
  request.door = 1;
  request.order.context.read = ReadId(77);
  request.order.context.epoch = EpochNumber(3);
  request.order.number = 4;
  request.order.channel = 0x0102030405060708;
  request.order.source_offset = 300;
  request.order.length = 2;
  request.order.address = 0x1000;
  request.order.write_key = 9;
  request.order.key_base = 0x1000;
  request.order.key_length = 0x10;
  return request;
}

v1::ReadStripesRequest order_message() {
  v1::ReadStripesRequest message;
  const Bytes body = body_of(encode_read_stripes(order_request()));
  BOOST_REQUIRE(message.ParseFromArray(body.data(), static_cast<int>(body.size())));
  return message;
}

BOOST_AUTO_TEST_SUITE(codec_stripes)

BOOST_AUTO_TEST_CASE(opening_keeps_its_bytes_and_comes_back) {
  const Bytes body = body_of(encode_open_object(open_request()));
  BOOST_TEST(hex_of(body) ==
             "084d"          // read_id
             "12026162"      // key
             "18ac02"        // generation
             "2001"          // snapshot
             "28e807"        // ttl_ms
             "3001"          // want_addresses
             "3a0300ac02");  // granules_of
  const auto back = decode_open_object(body);
  BOOST_REQUIRE(back.ok());
  BOOST_TEST((back->read == ReadId(77) && back->key == "ab" && back->snapshot));
  BOOST_TEST((back->generation == ObjectGeneration(300) && back->want_addresses));
  BOOST_TEST((back->ttl == std::chrono::seconds(1)));
  BOOST_TEST((back->granules_of == std::vector<std::uint32_t>{0, 300}));

  const Bytes answer = body_of(encode_open_object_answer(open_answer()));
  BOOST_TEST(hex_of(answer) ==
             "08ac02"    // ttl_ms
             "1001"      // in_memory
             "2009"      // table_generation
             "30808010"  // most_pushed
             "1a10"
             "0010000000000000"
             "0020000000000000"  // addresses
             "2a08"
             "0500000000000000");  // granule_checksums
  const auto told = decode_open_object_answer(answer, {2, 1, true});
  BOOST_REQUIRE(told.ok());
  BOOST_TEST((told->addresses == open_answer().addresses && told->in_memory));
  BOOST_TEST((told->granules == open_answer().granules));
  BOOST_TEST((told->regions == TableGeneration(9)));
  BOOST_TEST((told->ttl == std::chrono::milliseconds(300)));
}

BOOST_AUTO_TEST_CASE(orders_keep_their_bytes_and_come_back) {
  const Bytes body = body_of(encode_read_stripes(order_request()));
  BOOST_TEST(hex_of(body) ==
             "084d"                // read_id
             "1003"                // epoch
             "1801"                // door
             "210807060504030201"  // channel
             "2804"                // number
             "30ac02"              // source_offset
             "3802"                // length
             "408020"              // address
             "490900000000000000"  // write_key
             "508020"              // key_base
             "5810");              // key_length
  const auto back = decode_read_stripes(body);
  BOOST_REQUIRE(back.ok());
  BOOST_TEST((back->order.context == order_request().order.context && back->door == 1U));
  BOOST_TEST((back->order.channel == 0x0102030405060708U && back->order.number == 4U));
  BOOST_TEST((back->order.source_offset == 300U && back->order.length == 2U));
  BOOST_TEST((back->order.address == 0x1000U && back->order.write_key == 9U));
  BOOST_TEST((back->order.key_base == 0x1000U && back->order.key_length == 0x10U));

  PushReceipt receipt;
  receipt.bytes = 2;
  receipt.disk = std::chrono::nanoseconds(300);
  receipt.send = std::chrono::hours(1000);
  const Bytes sent = body_of(encode_read_stripes_answer(receipt));
  BOOST_TEST(hex_of(sent) == "080210ac02188080bc8ac9d213");  // bytes, disk_ns, send_ns
  const auto told = decode_read_stripes_answer(sent, 2);
  BOOST_TEST((told.ok() && told->disk == receipt.disk && told->send == Duration(kMaxPushTime)));
}

BOOST_AUTO_TEST_CASE(an_open_that_asks_for_nonsense_is_refused) {
  const auto decoded = [](const v1::OpenObjectRequest& message) {
    return decode_open_object(bytes_of_message(message));
  };
  auto message = open_message();
  message.set_read_id(0);
  check_names(decoded(message), "read_id");
  message = open_message();
  message.clear_key();
  check_names(decoded(message), "key");
  message = open_message();
  message.set_generation(0);
  check_names(decoded(message), "generation");
  message = open_message();
  message.set_ttl_ms(kMaxTtlMs + 1);
  check_names(decoded(message), "ttl_ms");
  for (const std::uint32_t stripe : {0U, 299U, 300U}) {
    message = open_message();
    message.add_granules_of(stripe);
    check_names(decoded(message), "granules_of");
  }
  message = open_message();
  message.add_granules_of(kMaxObjectStripes);
  check_names(decoded(message), "granules_of");
  message.set_granules_of(2, kMaxObjectStripes - 1);
  BOOST_TEST(decoded(message).ok());
  message.clear_granules_of();
  for (std::uint32_t i = 0; i <= kMaxObjectStripes; ++i) message.add_granules_of(i);
  check_names(decoded(message), "granules_of");
}

BOOST_AUTO_TEST_CASE(an_answer_has_an_address_for_each_stripe_or_none) {
  const Bytes body = body_of(encode_open_object_answer(open_answer()));
  check_names(decode_open_object_answer(body, {1, 1, true}), "addresses");
  check_names(decode_open_object_answer(body, {3, 1, true}), "addresses");
  check_names(decode_open_object_answer(body, {2, 1, false}), "addresses");
  check_names(decode_open_object_answer(body, {2, 0, true}), "granule_checksums");
  check_names(decode_open_object_answer(body, {2, 2, true}), "granule_checksums");
  OpenObjectAnswer on_disk = open_answer();
  on_disk.in_memory = false;
  check_names(decode_open_object_answer(body_of(encode_open_object_answer(on_disk)), {2, 1, true}),
              "addresses");
  on_disk.addresses.clear();
  BOOST_TEST(
      decode_open_object_answer(body_of(encode_open_object_answer(on_disk)), {2, 1, true}).ok());
  v1::OpenObjectAnswer message;
  check_names(decode_open_object_answer(bytes_of_message(message), {}), "ttl_ms");
  message.set_ttl_ms(kMaxTtlMs + 1);
  check_names(decode_open_object_answer(bytes_of_message(message), {}), "ttl_ms");
  message.set_ttl_ms(1);
  for (const std::uint64_t most : {std::uint64_t{0}, kGranuleBytes - 1, kMaxStripeBytes + 1}) {
    message.set_most_pushed(most);
    check_names(decode_open_object_answer(bytes_of_message(message), {}), "most_pushed");
  }
}

BOOST_AUTO_TEST_CASE(orders_for_what_cannot_be_are_refused) {
  const auto decoded = [](const v1::ReadStripesRequest& message) {
    return decode_read_stripes(bytes_of_message(message));
  };
  auto message = order_message();
  message.set_read_id(0);
  check_names(decoded(message), "read_id");
  message = order_message();
  message.set_door(kMaxRails);
  check_names(decoded(message), "door");
  for (const std::uint64_t length : {std::uint64_t{0}, kMaxStripeBytes + 1, kHuge}) {
    message = order_message();
    message.set_length(length);
    check_names(decoded(message), "length");
  }
  message = order_message();
  message.set_source_offset(kHuge - 1);
  check_names(decoded(message), "source_offset");
  message = order_message();
  message.set_address(kHuge - 1);
  check_names(decoded(message), "address");
  message = order_message();
  message.set_key_base(kHuge);
  check_names(decoded(message), "key_base");
}

BOOST_AUTO_TEST_CASE(a_receipt_is_for_what_was_ordered) {
  v1::ReadStripesAnswer message;
  message.set_bytes(2);
  BOOST_TEST(decode_read_stripes_answer(bytes_of_message(message), 2).ok());
  check_names(decode_read_stripes_answer(bytes_of_message(message), 1), "bytes");
  message.set_disk_ns(kHuge);
  check_names(decode_read_stripes_answer(bytes_of_message(message), 2), "disk_ns");
  message.set_disk_ns(0);
  message.set_send_ns(kHuge);
  check_names(decode_read_stripes_answer(bytes_of_message(message), 2), "send_ns");
}

BOOST_AUTO_TEST_CASE(the_longest_open_and_its_answer_fit_into_a_frame) {
  OpenObjectRequest request = open_request();
  request.key.assign(kMaxObjectKeyBytes, 'k');
  request.granules_of.resize(kMaxObjectStripes);
  for (std::uint32_t i = 0; i < kMaxObjectStripes; ++i) request.granules_of[i] = i;
  const Bytes body = body_of(encode_open_object(request));
  BOOST_TEST(body.size() <= limits_of(Method::kOpenObject).request_bytes);
  BOOST_TEST(decode_open_object(body).ok());
  OpenObjectAnswer answer = open_answer();
  answer.addresses.resize(kMaxObjectStripes);
  answer.granules.resize(kMaxObjectGranules);
  BOOST_TEST(body_of(encode_open_object_answer(answer)).size() <=
             limits_of(Method::kOpenObject).answer_bytes);
}

BOOST_AUTO_TEST_CASE(mutants_are_taken_or_refused_but_break_nothing) {
  SeededRandom random(13);
  const Bytes open = body_of(encode_open_object(open_request()));
  const Bytes opened = body_of(encode_open_object_answer(open_answer()));
  const Bytes order = body_of(encode_read_stripes(order_request()));
  for (int i = 0; i < 20'000; ++i) {
    const auto request = decode_open_object(mutated(open, random));
    if (request.ok()) BOOST_REQUIRE(!request->key.empty());
    const auto answer = decode_open_object_answer(mutated(opened, random), {2, 1, true});
    if (answer.ok()) BOOST_REQUIRE(answer->granules.size() == 1U);
    const auto ordered = decode_read_stripes(mutated(order, random));
    if (ordered.ok()) BOOST_REQUIRE(ordered->order.length > 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
