#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "engine/object/striping_info.h"
#include "test/object_store/content.h"
#include "test/object_store/on_local_disk.h"
#include "test/object_store/store_kinds.h"
#include "test/object_store/store_rig.h"

namespace corail::test {
namespace {

using Kinds = std::tuple<InMemory, OnSimulatedDisk, ByThreads, ByUring>;
using std::chrono::seconds;

constexpr std::uint64_t kSize = 5 * kGranuleBytes + 77;  // three stripes, the last one short

/// The store goes first, then what reaches its disks, then the context that both run on.
template <typename Kind>
struct Fixture : StoreRig, Kind {
  Fixture() { restart(options()); }
  ~Fixture() { this->stop(); }
  void restart(const ObjectStoreOptions& with) {
    this->stop();  // another store may not open what this one has
    BOOST_REQUIRE(this->start(this->medium(this->executor()), with).ok());
  }
};

bool holds(const Result<std::vector<std::byte>>& found, std::uint64_t seed, std::uint64_t size) {
  return found.ok() && is_content(*found, seed, size);
}

BOOST_AUTO_TEST_SUITE(every_store)

BOOST_AUTO_TEST_CASE_TEMPLATE(what_was_put_comes_back, Kind, Kinds) {
  Fixture<Kind> rig;
  for (const std::uint64_t size :
       {std::uint64_t{0}, std::uint64_t{1}, kGranuleBytes, kSize, 8 * kGranuleBytes}) {
    BOOST_TEST_CONTEXT(size << " bytes") {
      const std::string key = "object/" + std::to_string(size);
      const auto put = rig.put(key, size, size);
      BOOST_TEST(put.ok(), text_of(put));
      BOOST_TEST(holds(rig.get(key), size, size));
      const auto info = rig.store().lookup(key);
      BOOST_REQUIRE(info.ok());
      BOOST_TEST(check_striping(**info).ok());
      BOOST_TEST(((*info)->object.generation == *put));
    }
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(nothing_is_seen_before_the_commit, Kind, Kinds) {
  Fixture<Kind> rig;
  const PutRequest request = StoreRig::request("k", kSize);
  const auto put = rig.run(rig.store().begin_put(request));
  BOOST_REQUIRE(put.ok());
  BOOST_REQUIRE(rig.write_all(*put, request, content_of(1, kSize)).ok());
  BOOST_TEST((code_of(rig.store().lookup("k")) == Errc::kNotFound));
  BOOST_TEST(rig.store().list("", "", 9).empty());
  BOOST_TEST(rig.run(rig.store().commit_put(*put)).ok());
  BOOST_TEST(rig.store().lookup("k").ok());
  BOOST_TEST((code_of(rig.run(rig.store().commit_put(*put))) == Errc::kNotFound));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_incomplete_put_cannot_be_committed, Kind, Kinds) {
  Fixture<Kind> rig;
  const PutRequest request = StoreRig::request("k", kSize);
  const auto content = content_of(1, kSize);
  const auto put = rig.run(rig.store().begin_put(request));
  const auto bytes = [&](std::uint64_t at, std::uint64_t length) {
    return std::span(content).subspan(at, length);
  };
  const auto write = [&](std::uint32_t stripe, std::uint64_t offset, std::uint64_t length) {
    const std::uint64_t at = (stripe * request.stripe_size + offset) % kGranuleBytes;
    return code_of(rig.run(rig.store().write(*put, stripe, offset, bytes(at, length))));
  };
  // Out of order, and each wrong in another way.
  BOOST_TEST((write(1, kGranuleBytes, kGranuleBytes) == Errc::kUnset));
  BOOST_TEST((write(1, kGranuleBytes, kGranuleBytes) == Errc::kInvalidArgument));
  BOOST_TEST((write(1, 0, 2 * kGranuleBytes) == Errc::kInvalidArgument));
  BOOST_TEST((write(3, 0, kGranuleBytes) == Errc::kInvalidArgument));
  BOOST_TEST((write(0, 1, kGranuleBytes) == Errc::kInvalidArgument));
  BOOST_TEST((write(0, 0, kGranuleBytes - 1) == Errc::kInvalidArgument));
  BOOST_TEST((write(0, 0, 0) == Errc::kInvalidArgument));
  BOOST_TEST((write(0, kGranuleBytes, 2 * kGranuleBytes) == Errc::kInvalidArgument));
  BOOST_TEST(
      (write(0, ~std::uint64_t{0} - kGranuleBytes + 1, kGranuleBytes) == Errc::kInvalidArgument));
  BOOST_TEST((write(2, 0, kGranuleBytes + 77) == Errc::kUnset));
  BOOST_TEST((write(0, 0, 2 * kGranuleBytes) == Errc::kUnset));
  const auto early = rig.run(rig.store().commit_put(*put));
  BOOST_TEST((code_of(early) == Errc::kByteCountMismatch));
  BOOST_TEST(text_of(early).find("lacks 1 of 6 granules") != std::string::npos, text_of(early));
  BOOST_TEST((write(1, 0, kGranuleBytes) == Errc::kUnset));
  BOOST_TEST(rig.run(rig.store().commit_put(*put)).ok());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(an_aborted_put_leaves_nothing, Kind, Kinds) {
  Fixture<Kind> rig;
  const PutRequest request = StoreRig::request("k", kSize);
  const auto put = rig.run(rig.store().begin_put(request));
  BOOST_REQUIRE(rig.write_all(*put, request, content_of(1, kSize)).ok());
  BOOST_TEST(!rig.nothing_left());
  BOOST_TEST(rig.run(rig.store().abort_put(*put)).ok());
  rig.settle();
  BOOST_TEST(rig.nothing_left());
  BOOST_TEST((code_of(rig.run(rig.store().commit_put(*put))) == Errc::kNotFound));
  BOOST_TEST((code_of(rig.run(rig.store().abort_put(*put))) == Errc::kNotFound));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_put_that_nobody_writes_to_expires, Kind, Kinds) {
  Fixture<Kind> rig;
  const auto content = content_of(1, kSize);
  const auto put = rig.run(rig.store().begin_put(StoreRig::request("k", kSize)));
  rig.advance(seconds(59));
  const auto stripe = std::span(content).first(2 * kGranuleBytes);
  BOOST_TEST(rig.run(rig.store().write(*put, 0, 0, stripe)).ok());
  rig.advance(seconds(59));
  BOOST_TEST(rig.store().stats().open_puts == 1U);
  rig.advance(seconds(1));
  BOOST_TEST(rig.store().stats().open_puts == 0U);
  BOOST_TEST((code_of(rig.run(rig.store().write(*put, 1, 0, stripe))) == Errc::kNotFound));
  BOOST_TEST(rig.nothing_left());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(if_generation_decides_at_begin_and_at_commit, Kind, Kinds) {
  Fixture<Kind> rig;
  PutRequest request = StoreRig::request("k", 1);
  request.if_generation = ObjectGeneration(0);
  const auto first = rig.put(request, 1);
  BOOST_REQUIRE(first.ok());
  BOOST_TEST((code_of(rig.put(request, 2)) == Errc::kGenerationChanged));
  request.if_generation = *first;
  const auto second = rig.put(request, 3);
  BOOST_TEST(second.ok());
  BOOST_TEST((code_of(rig.put(request, 4)) == Errc::kGenerationChanged));
  // Both hold when they begin; only the first to commit still does then.
  request.if_generation = *second;
  const auto slow = rig.run(rig.store().begin_put(request));
  const auto quick = rig.run(rig.store().begin_put(request));
  BOOST_REQUIRE(rig.write_all(*slow, request, content_of(5, 1)).ok());
  BOOST_REQUIRE(rig.write_all(*quick, request, content_of(6, 1)).ok());
  BOOST_TEST(rig.run(rig.store().commit_put(*slow)).ok());
  BOOST_TEST((code_of(rig.run(rig.store().commit_put(*quick))) == Errc::kGenerationChanged));
  BOOST_TEST(holds(rig.get("k"), 5, 1));
  BOOST_TEST((code_of(rig.run(rig.store().erase("k", *second))) == Errc::kGenerationChanged));
  BOOST_TEST(rig.run(rig.store().erase("k", *slow)).ok());
  BOOST_TEST((code_of(rig.put(request, 7)) == Errc::kGenerationChanged));
  rig.settle();
  BOOST_TEST(rig.nothing_left());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(generations_of_a_key_never_go_back, Kind, Kinds) {
  Fixture<Kind> rig;
  const PutRequest request = StoreRig::request("k", 1);
  const auto early = rig.run(rig.store().begin_put(request));
  const auto other = rig.run(rig.store().begin_put(StoreRig::request("other", 1)));
  const auto late = rig.put(request, 2);
  BOOST_TEST((*early < *late));
  BOOST_REQUIRE(rig.write_all(*early, request, content_of(1, 1)).ok());
  BOOST_REQUIRE(rig.write_all(*other, request, content_of(1, 1)).ok());
  BOOST_TEST((code_of(rig.run(rig.store().commit_put(*early))) == Errc::kGenerationChanged));
  BOOST_TEST(rig.run(rig.store().commit_put(*other)).ok());
  BOOST_TEST(holds(rig.get("k"), 2, 1));
  BOOST_TEST(rig.run(rig.store().erase("k", std::nullopt)).ok());
  BOOST_TEST((*late < *rig.put(request, 3)));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_lease_keeps_the_old_generation_until_let_go, Kind, Kinds) {
  Fixture<Kind> rig;
  BOOST_REQUIRE(rig.put("k", 1, kSize).ok());
  const auto info = rig.store().lookup("k");
  const auto lease = rig.lease("k");
  const auto erased = rig.lease("k");
  BOOST_TEST(*rig.store().confirm(*lease) == true);
  BOOST_REQUIRE(rig.put("k", 2, kSize).ok());
  BOOST_TEST(holds(rig.get("k"), 2, kSize));
  BOOST_TEST(holds(rig.read_all(*lease, **info), 1, kSize));
  BOOST_TEST(*rig.store().confirm(*lease) == false);
  BOOST_TEST(rig.run(rig.store().erase("k", std::nullopt)).ok());
  rig.settle();
  BOOST_TEST(!rig.nothing_left());
  rig.store().release(*lease);
  rig.store().release(*lease);
  BOOST_TEST(holds(rig.read_all(*erased, **info), 1, kSize));
  BOOST_TEST((code_of(rig.read_all(*lease, **info)) == Errc::kLeaseExpired));
  BOOST_TEST(rig.store().stats().superseded == 1U);
  rig.store().release(*erased);
  rig.settle();
  BOOST_TEST(rig.nothing_left());
  BOOST_TEST(rig.store().stats().superseded == 0U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(a_lease_lapses_and_stays_so, Kind, Kinds) {
  Fixture<Kind> rig;
  BOOST_REQUIRE(rig.put("k", 1, kSize).ok());
  const auto lease = rig.store().lease("k", std::nullopt, seconds(10));
  BOOST_TEST((lease->ttl == seconds(10)));
  BOOST_TEST(rig.run(rig.store().erase("k", std::nullopt)).ok());
  rig.advance(seconds(9));
  BOOST_TEST((*rig.store().renew(lease->id, seconds(10)) == seconds(10)));
  rig.advance(seconds(9));
  BOOST_TEST(holds(rig.read_all(lease->id, *lease->info), 1, kSize));
  rig.advance(seconds(1));
  BOOST_TEST((code_of(rig.store().confirm(lease->id)) == Errc::kLeaseExpired));
  BOOST_TEST((code_of(rig.store().renew(lease->id, seconds(10))) == Errc::kLeaseExpired));
  BOOST_TEST((code_of(rig.store().confirm(LeaseId{BootId(77), 1})) == Errc::kNotFound));
  BOOST_TEST(rig.store().stats().lapsed_leases == 1U);
  BOOST_TEST(rig.nothing_left());
}

BOOST_AUTO_TEST_CASE_TEMPLATE(ranges_are_read_and_checked, Kind, Kinds) {
  Fixture<Kind> rig;
  BOOST_REQUIRE(rig.put("k", 1, kSize).ok());
  const auto lease = rig.lease("k");
  const auto content = content_of(1, kSize);
  const auto read = [&](std::uint32_t stripe, std::uint64_t offset, std::uint64_t length,
                        ReadCheck check) {
    std::vector<std::byte> into(length);
    const auto done = rig.run(rig.store().read(*lease, stripe, offset, into, check));
    if (!done) return done.error().code();
    const auto expected = std::span(content).subspan(stripe * 2 * kGranuleBytes + offset, length);
    return std::ranges::equal(into, expected) ? Errc::kUnset : Errc::kByteCountMismatch;
  };
  BOOST_TEST((read(1, 123, 4567, ReadCheck::kNone) == Errc::kUnset));
  BOOST_TEST((read(1, 123, 4567, ReadCheck::kVerify) == Errc::kInvalidArgument));
  BOOST_TEST((read(2, kGranuleBytes, 77, ReadCheck::kVerify) == Errc::kUnset));
  BOOST_TEST((read(2, kGranuleBytes, 78, ReadCheck::kNone) == Errc::kInvalidArgument));
  BOOST_TEST((read(3, 0, 1, ReadCheck::kNone) == Errc::kInvalidArgument));
  BOOST_TEST((read(0, ~std::uint64_t{0}, 2, ReadCheck::kNone) == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(listing_goes_in_order_by_prefix_and_page, Kind, Kinds) {
  Fixture<Kind> rig;
  for (const char* key : {"b/2", "a/1", "b/1", "c", "b/3"}) BOOST_REQUIRE(rig.put(key, 1, 3).ok());
  BOOST_REQUIRE(rig.run(rig.store().erase("b/3", std::nullopt)).ok());
  const auto keys = [&](std::string_view prefix, std::string_view after, std::size_t most) {
    std::string joined;
    for (const auto& found : rig.store().list(prefix, after, most)) joined += found.key + " ";
    return joined;
  };
  BOOST_TEST(keys("", "", 9) == "a/1 b/1 b/2 c ");
  BOOST_TEST(keys("b/", "", 9) == "b/1 b/2 ");
  BOOST_TEST(keys("b/", "b/1", 9) == "b/2 ");
  BOOST_TEST(keys("", "a/1", 2) == "b/1 b/2 ");
  BOOST_TEST(keys("d", "", 9) == "");
  BOOST_TEST(rig.store().list("c", "", 1)[0].size == 3U);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(wrong_requests_and_limits_are_typed, Kind, Kinds) {
  Fixture<Kind> rig;
  ObjectStoreOptions options = StoreRig::options();
  options.max_objects = 2;
  options.max_open_puts = 1;
  options.max_leases = 1;
  rig.restart(options);
  PutRequest request = StoreRig::request("", 1);
  BOOST_TEST((code_of(rig.put(request, 1)) == Errc::kInvalidArgument));
  request = StoreRig::request("k", 1);
  request.stripe_size = kGranuleBytes + 1;
  BOOST_TEST((code_of(rig.put(request, 1)) == Errc::kInvalidArgument));
  request.stripe_size = kGranuleBytes;
  request.size = ~std::uint64_t{0};
  BOOST_TEST((code_of(rig.put(request, 1)) == Errc::kTooLarge));
  BOOST_REQUIRE(rig.put("a", 1, 1).ok());
  BOOST_REQUIRE(rig.put("b", 1, 1).ok());
  BOOST_TEST((code_of(rig.put("c", 1, 1)) == Errc::kQuotaExceeded));
  BOOST_TEST(rig.run(rig.store().begin_put(StoreRig::request("a", 1))).ok());
  BOOST_TEST((code_of(rig.put("a", 1, 1)) == Errc::kQuotaExceeded));
  BOOST_TEST(rig.lease("a").ok());
  BOOST_TEST((code_of(rig.lease("a")) == Errc::kQuotaExceeded));
  BOOST_TEST((code_of(rig.lease("none")) == Errc::kNotFound));
  BOOST_TEST((code_of(rig.run(rig.store().erase("none", std::nullopt))) == Errc::kNotFound));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
