// What is told of objects, as it has to stay and as a stranger may send it.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <string>

#include "engine/object/descriptor_check.h"
#include "proto/corail/v1/objects.pb.h"
#include "rpc/method.h"
#include "rpc/object_codec.h"
#include "test/rpc/bytes.h"
#include "test/rpc/codec_checks.h"

namespace corail::test {
namespace {

/// An object of two stripes, the second one of a byte.
ObjectDescriptor sample() {
  ObjectDescriptor object;
  object.key = "weights/shard-3";
  object.size = kGranuleBytes + 1;
  object.generation = ObjectGeneration(300);
  object.stripe_size = kGranuleBytes;
  ObjectNode node;
  node.id = NodeId(0x0102030405060708);
  node.addresses = {"a:1"};
  object.nodes = {node};
  object.chunks = {{0, 0, 0, kGranuleBytes, Checksum64(1)}, {0, 1, 0, 1, Checksum64(2)}};
  return object;
}

v1::ObjectDescriptor sample_message() {
  v1::ObjectDescriptor message;
  const Bytes body = body_of(encode_descriptor(sample()));
  BOOST_REQUIRE(message.ParseFromArray(body.data(), static_cast<int>(body.size())));
  return message;
}

auto decode_sample(const v1::ObjectDescriptor& message) {
  return decode_descriptor(bytes_of_message(message), "k");
}

BOOST_AUTO_TEST_SUITE(codec_objects)

BOOST_AUTO_TEST_CASE(a_descriptor_keeps_its_bytes_and_comes_back) {
  const Bytes body = body_of(encode_descriptor(sample()));
  BOOST_TEST(hex_of(body) ==
             "08818010"            // size
             "10ac02"              // generation
             "18808010"            // stripe_size
             "220e"                // nodes
             "090807060504030201"  // id
             "1203613a31"          // addresses
             "2a020000"            // stripe_nodes
             "32020001"            // stripe_devices
             "3a020000"            // stripe_offsets
             "4210"
             "0100000000000000"
             "0200000000000000");  // stripe_checksums
  const auto back = decode_descriptor(body, "weights/shard-3");
  BOOST_TEST((back.ok() && *back == sample()));
}

BOOST_AUTO_TEST_CASE(keys_lists_and_deletions_keep_their_bytes) {
  BOOST_TEST(hex_of(body_of(encode_lookup_object("ab"))) == "0a026162");
  BOOST_TEST(decode_lookup_object(body_of(encode_lookup_object("ab"))).value() == "ab");
  ListObjectsRequest list;
  list.prefix = "a";
  list.after = "ab";
  list.most = 300;
  const Bytes asked = body_of(encode_list_objects(list));
  BOOST_TEST(hex_of(asked) == "0a01611202616218ac02");
  BOOST_TEST(decode_list_objects(asked)->after == "ab");
  const ObjectSummary entry{"ac", 5, ObjectGeneration(7)};
  const Bytes listed = body_of(encode_list_objects_answer({&entry, 1}));
  BOOST_TEST(hex_of(listed) == "0a080a02616310051807");
  const auto back = decode_list_objects_answer(listed, list);
  BOOST_TEST((back.ok() && back->size() == 1U && back->front().key == "ac"));
  DeleteObjectRequest request;
  request.key = "ab";
  BOOST_TEST(hex_of(body_of(encode_delete_object(request))) == "0a026162");
  BOOST_TEST(!decode_delete_object(body_of(encode_delete_object(request)))->if_generation);
  request.if_generation = ObjectGeneration(7);
  const Bytes deletion = body_of(encode_delete_object(request));
  BOOST_TEST(hex_of(deletion) == "0a0261621007");
  BOOST_TEST((decode_delete_object(deletion)->if_generation == ObjectGeneration(7)));
  const Bytes deleted = body_of(encode_delete_object_answer(ObjectGeneration(7)));
  BOOST_TEST(hex_of(deleted) == "0807");
  BOOST_TEST((decode_delete_object_answer(deleted).value() == ObjectGeneration(7)));
}

BOOST_AUTO_TEST_CASE(a_descriptor_that_contradicts_itself_is_refused) {
  auto message = sample_message();
  message.set_size(0);
  BOOST_TEST(!decode_sample(message).ok());
  message = sample_message();
  message.set_generation(0);
  BOOST_TEST(!decode_sample(message).ok());
  message = sample_message();
  message.set_stripe_size(std::numeric_limits<std::uint64_t>::max());
  BOOST_TEST(!decode_sample(message).ok());
  message = sample_message();
  message.add_stripe_nodes(0);
  check_names(decode_sample(message), "stripe_nodes");
  message = sample_message();
  message.set_stripe_nodes(1, 1);
  BOOST_TEST(!decode_sample(message).ok());
  message = sample_message();
  *message.add_nodes() = message.nodes(0);
  BOOST_TEST(!decode_sample(message).ok());
}

BOOST_AUTO_TEST_CASE(nodes_and_stripes_are_counted_before_memory_is_spent) {
  auto message = sample_message();
  for (std::size_t i = 0; i < kMaxObjectNodes; ++i) message.add_nodes();
  check_names(decode_sample(message), "nodes");
  message = sample_message();
  for (std::size_t i = 0; i < kMaxNodeAddresses; ++i) message.mutable_nodes(0)->add_addresses("");
  check_names(decode_sample(message), "nodes.addresses");
  message = sample_message();
  for (std::size_t i = 0; i < kMaxObjectStripes; ++i) {
    message.add_stripe_nodes(0);
    message.add_stripe_devices(0);
    message.add_stripe_offsets(0);
    message.add_stripe_checksums(0);
  }
  check_names(decode_sample(message), "stripe_nodes");
}

BOOST_AUTO_TEST_CASE(keys_have_1_to_1024_bytes) {
  const std::string most(kMaxObjectKeyBytes, 'k');
  const std::string longer = most + "k";
  BOOST_TEST(decode_lookup_object(body_of(encode_lookup_object(most))).ok());
  check_names(decode_lookup_object(body_of(encode_lookup_object(longer))), "key");
  check_names(decode_lookup_object({}), "key");
  check_names(decode_delete_object({}), "key");
  ListObjectsRequest list;
  list.most = 1;
  list.prefix = longer;
  check_names(decode_list_objects(body_of(encode_list_objects(list))), "prefix");
  list.prefix = most;
  list.after = longer;
  check_names(decode_list_objects(body_of(encode_list_objects(list))), "after");
  list.after = most;
  BOOST_TEST(decode_list_objects(body_of(encode_list_objects(list))).ok());
  for (const std::uint32_t most_entries : {0U, kMaxListedObjects + 1}) {
    list.most = most_entries;
    check_names(decode_list_objects(body_of(encode_list_objects(list))), "most");
  }
}

BOOST_AUTO_TEST_CASE(a_listing_holds_what_was_asked_for_in_order) {
  ListObjectsRequest asked;
  asked.prefix = "a";
  asked.after = "ab";
  asked.most = 2;
  const auto decoded = [&asked](std::vector<ObjectSummary> objects) {
    return decode_list_objects_answer(body_of(encode_list_objects_answer(objects)), asked);
  };
  const ObjectGeneration one(1);
  BOOST_TEST(decoded({{"ac", 1, one}, {"ad", 0, one}}).ok());
  check_names(decoded({{"ac", 1, one}, {"ad", 1, one}, {"ae", 1, one}}), "objects");
  check_names(decoded({{"ad", 1, one}, {"ac", 1, one}}), "objects");
  check_names(decoded({{"ac", 1, one}, {"ac", 1, one}}), "objects");
  check_names(decoded({{"ab", 1, one}}), "objects");
  check_names(decoded({{"b", 1, one}}), "objects");
  check_names(decoded({{"ac", 1, ObjectGeneration(0)}}), "generation");
  check_names(decoded({{"", 1, one}}), "key");
  check_names(decode_delete_object_answer({}), "generation");
}

BOOST_AUTO_TEST_CASE(the_longest_answers_fit_into_a_frame) {
  ObjectDescriptor object = sample();
  object.chunks.clear();
  object.stripe_size = kMaxStripeBytes;
  object.size = kMaxObjectStripes * kMaxStripeBytes;
  object.nodes.clear();
  for (std::uint64_t i = 0; i < kMaxObjectNodes; ++i) {
    ObjectNode node;
    node.id = NodeId(i);
    node.addresses.assign(kMaxNodeAddresses, std::string(kMaxNodeAddressBytes, 'a'));
    object.nodes.push_back(std::move(node));
  }
  const ObjectChunk chunk{kMaxObjectNodes - 1, ~0U, ~std::uint64_t{0}, kMaxStripeBytes,
                          Checksum64(~std::uint64_t{0})};
  object.chunks.assign(kMaxObjectStripes, chunk);
  const Bytes body = body_of(encode_descriptor(object));
  BOOST_TEST(body.size() <= limits_of(Method::kLookupObject).answer_bytes);
  BOOST_TEST(decode_descriptor(body, object.key).ok());

  std::vector<ObjectSummary> entries;
  for (std::uint32_t i = 0; i < kMaxListedObjects; ++i) {
    std::string key(kMaxObjectKeyBytes, 'k');
    key[0] = static_cast<char>(i / 256);
    key[1] = static_cast<char>(i % 256);
    entries.push_back({std::move(key), ~std::uint64_t{0}, ObjectGeneration(~std::uint64_t{0})});
  }
  BOOST_TEST(body_of(encode_list_objects_answer(entries)).size() <=
             limits_of(Method::kListObjects).answer_bytes);
}

BOOST_AUTO_TEST_CASE(mutants_are_taken_or_refused_but_break_nothing) {
  SeededRandom random(12);
  ListObjectsRequest asked;
  asked.most = 2;
  const ObjectSummary entry{"ac", 5, ObjectGeneration(7)};
  const Bytes descriptor = body_of(encode_descriptor(sample()));
  const Bytes listed = body_of(encode_list_objects_answer({&entry, 1}));
  for (int i = 0; i < 20'000; ++i) {
    const auto object = decode_descriptor(mutated(descriptor, random), "k");
    if (object.ok()) BOOST_REQUIRE(check_descriptor(*object).ok());
    const auto entries = decode_list_objects_answer(mutated(listed, random), asked);
    if (entries.ok()) BOOST_REQUIRE(entries->size() <= 2U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
