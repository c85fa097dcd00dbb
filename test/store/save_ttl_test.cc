// What becomes of a save whose saver stalls.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/store/save.h"
#include "test/store/support.h"

namespace corail::testing {
namespace {

using std::chrono::seconds;

struct Fixture : Holder {
  Fixture() { spec.layout = store->intern(layout_of(2, 24, 40)); }

  SaveSpec spec;
  std::vector<std::string> names = hash_names(8);
  std::vector<std::string_view> hashes = views(names);
  const std::uint64_t free_before = store->stats().free_bytes;
};

BOOST_FIXTURE_TEST_SUITE(save_ttl, Fixture)

BOOST_AUTO_TEST_CASE(an_unsealed_save_is_dropped_when_its_time_is_over) {
  auto save = store->begin(request_of(spec, hashes));
  BOOST_REQUIRE(save);
  write_all(*save, spec, hashes);
  advance(StoreOptions().save_ttl - std::chrono::nanoseconds(1));
  BOOST_TEST(store->stats().free_bytes == free_before - 8 * 128);
  advance(std::chrono::nanoseconds(1));
  BOOST_TEST(store->stats().free_bytes == free_before);
  BOOST_TEST(store->stats().expired_saves == 1U);
  BOOST_TEST(save->writable(0, 0).empty());
  BOOST_TEST((save->put_part(0).error().code() == Errc::kDeadline));
  BOOST_TEST((save->pin(0).error().code() == Errc::kDeadline));
  const auto sealed = save->seal();
  BOOST_TEST((sealed.error().code() == Errc::kDeadline));
  BOOST_TEST(sealed.error().detail().find("save_ttl") != std::string::npos);
  BOOST_TEST(!store->contains("ns", hashes[0]));
}

BOOST_AUTO_TEST_CASE(parts_that_were_put_are_dropped_too) {
  auto save = store->begin(request_of(spec, hashes));
  BOOST_REQUIRE(save);
  write_all(*save, spec, hashes);
  BOOST_REQUIRE(save->put_part(0));
  advance(StoreOptions().save_ttl);
  BOOST_TEST(store->stats().free_bytes == free_before);
  BOOST_TEST((save->seal().error().code() == Errc::kDeadline));
  BOOST_TEST(store->stats().blocks == 0U);
}

BOOST_AUTO_TEST_CASE(sealed_blocks_stay) {
  auto save = store->begin(request_of(spec, hashes));
  BOOST_REQUIRE(save);
  write_all(*save, spec, hashes);
  BOOST_REQUIRE(save->put_part(0));
  BOOST_REQUIRE(save->seal());
  advance(10 * StoreOptions().save_ttl);
  BOOST_TEST(store->stats().expired_saves == 0U);
  BOOST_TEST((save->put_part(0).error().code() == Errc::kInvalidArgument));
  BOOST_TEST((save->pin(0).error().code() == Errc::kInvalidArgument));
  const auto answer = query(kAlice, 1, hashes);
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->block_count == 8U);
}

BOOST_AUTO_TEST_CASE(a_dropped_save_leaves_no_timer) {
  for (const bool seal : {false, true}) {
    auto save = store->begin(request_of(spec, hashes));
    BOOST_REQUIRE(save);
    write_all(*save, spec, hashes);
    if (seal) {
      BOOST_REQUIRE(save->put_part(0));
      BOOST_REQUIRE(save->seal());
    }
  }
  TimePoint due;
  BOOST_TEST(!clock.next_due(due));
  advance(2 * StoreOptions().save_ttl);
  BOOST_TEST(store->stats().expired_saves == 0U);
}

BOOST_AUTO_TEST_CASE(a_pin_keeps_the_bytes_of_a_late_saver_from_being_reused) {
  auto late = store->begin(request_of(spec, hashes));
  BOOST_REQUIRE(late);
  const std::span<std::byte> bytes = late->writable(0, 0);
  auto pin = late->pin(0);
  BOOST_REQUIRE(pin);
  BOOST_TEST((late->pin(1).error().code() == Errc::kInvalidArgument));
  advance(StoreOptions().save_ttl);
  BOOST_TEST((late->seal().error().code() == Errc::kDeadline));
  BOOST_TEST(store->stats().free_bytes == free_before - 8 * 128);
  // Another save of the same blocks, while the late one still writes.
  BOOST_REQUIRE(save(spec, hashes));
  fill(bytes, "late", 0);
  for (const std::string_view hash : hashes) {
    const auto segment = store->locate("ns", hash, 0);
    BOOST_REQUIRE(segment);
    BOOST_TEST(filled(at_address(segment->address, segment->bytes), hash, 0));
  }
  pin->reset();
  BOOST_TEST(store->stats().free_bytes == free_before - 8 * 128);  // of the second save
}

BOOST_AUTO_TEST_CASE(the_time_is_an_option) {
  StoreOptions options = one_node(1 << 20);
  options.save_ttl = seconds(5);
  Holder holder(options);
  SaveSpec own = spec;
  own.layout = holder.store->intern(layout_of(2, 24, 40));
  auto save = holder.store->begin(request_of(own, hashes));
  BOOST_REQUIRE(save);
  holder.advance(seconds(5));
  BOOST_TEST(holder.store->stats().expired_saves == 1U);
  for (const Duration wrong : {Duration(0), Duration(seconds(-1)), Duration::max()}) {
    options.save_ttl = wrong;
    BOOST_CHECK_THROW(Holder{options}, std::runtime_error);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
