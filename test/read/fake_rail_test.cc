#include "test/read/fake_rail.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/read/rail_share.h"
#include "test/read/object_rig.h"
#include "test/support/read_rig.h"

// What no modelled device does: rails that answer just what the test says.

namespace corail::test {
namespace {

using Keys = std::vector<std::vector<std::uint64_t>>;

HeldShape small_shape() {
  HeldShape shape;
  shape.blocks = 16;
  return shape;
}

/// A request over these rails in place of the rig's own; nothing is moved, so nothing is hashed.
ReadRequest request_over(ReadRig& rig, std::vector<Rail*> rails) {
  ReadRequest request = rig.request();
  request.rails = std::move(rails);
  request.expectation.reset();
  return request;
}

BOOST_AUTO_TEST_SUITE(fake_rails)

BOOST_AUTO_TEST_CASE(a_rail_that_flushes_for_ever_fails_the_read) {
  ReadRig rig(small_shape(), {}, 1);
  std::map<std::uint64_t, std::uint64_t> posted;
  FakeRail rail(rig.world, "flushing", [&](const Slice& slice) -> Result<void> {
    ++posted[slice.tag];
    return Error(Errc::kFlushed, "by nobody");
  });
  const auto read = rig.make(request_over(rig, {rail.get()}));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().error_class() == ErrorClass::kTransport), text_of(result));
  BOOST_TEST(result.error().rail() == "flushing");
  std::uint64_t most = 0;
  for (const auto& [tag, times] : posted) most = std::max(most, times);
  BOOST_TEST(most == 1 + kMaxRepostsPerSlice);
}

/// The same holder would answer over every other path.
BOOST_AUTO_TEST_CASE(a_breach_of_the_protocol_is_not_tried_on_another_rail) {
  ReadRig rig(small_shape(), {}, 1);
  const auto fine = [](const Slice&) -> Result<void> { return ok_result(); };
  const auto breach = [](const Slice&) -> Result<void> {
    return Error(Errc::kProtocol, "nonsense");
  };
  FakeRail good(rig.world, "good", fine);
  FakeRail bad(rig.world, "bad", breach);
  ReadRequest request = request_over(rig, {good.get(), bad.get()});
  request.retry_on_survivors = true;
  const auto read = rig.make(std::move(request));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == Errc::kProtocol), text_of(result));
  BOOST_TEST(read->report().retried_slices == 0U);
  BOOST_TEST(bad.get()->health().faults() == 0U);
}

BOOST_AUTO_TEST_CASE(a_slice_may_be_flushed_as_often_as_that) {
  ReadRig rig(small_shape(), {}, 1);
  std::map<std::uint64_t, std::uint64_t> posted;
  FakeRail rail(rig.world, "nervous", [&](const Slice& slice) -> Result<void> {
    if (posted[slice.tag]++ < kMaxRepostsPerSlice) return Error(Errc::kFlushed, "by somebody");
    return ok_result();
  });
  const auto read = rig.make(request_over(rig, {rail.get()}));
  const auto result = rig.finish(*read);
  BOOST_TEST(result.ok(), text_of(result));
}

BOOST_AUTO_TEST_CASE(slices_say_whether_their_read_is_small) {
  for (const std::uint32_t blocks : {32U, 33U}) {
    HeldShape shape;
    shape.blocks = blocks;  // of 64 KiB
    ReadRig rig(shape, {}, 1);
    std::uint64_t small = 0;
    std::uint64_t bytes = 0;
    const auto count = [&](const Slice& slice) -> Result<void> {
      bytes += slice.length;
      small += slice.of_small_read ? slice.length : 0;
      return ok_result();
    };
    FakeRail first(rig.world, "first", count);
    FakeRail second(rig.world, "second", count);
    const auto read = rig.make(request_over(rig, {first.get(), second.get()}));
    const auto result = rig.finish(*read);
    BOOST_TEST(result.ok(), text_of(result));
    BOOST_TEST(bytes == blocks * 64 * kKiB);
    BOOST_TEST(small == (blocks <= 32 ? bytes : 0));
  }
}

/// There may be less room than when it was cut: the rail has other reads now.
BOOST_AUTO_TEST_CASE(a_flushed_slice_is_posted_again_in_as_many_pieces_as_fit) {
  ReadRig rig(small_shape(), {}, 1);
  FakeRail rail(rig.world, "narrow", [](const Slice&) -> Result<void> { return ok_result(); });
  const ReadRequest request = rig.request();
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> bases;
  for (const ChunkSpec& chunk : request.plan->chunks()) {
    bases.push_back(memory.emplace_back(chunk.bytes).data());
  }
  const std::uint32_t rails[] = {1};
  SharedRead shared(request.plan, bases, ReadContext{}, 256 * kKiB, rails, false);
  RailShare share(shared, *shared.parts[0], *rail.get(), false, {}, nullptr, rig.world.clock(),
                  std::chrono::seconds(2));
  const auto whole = share.next(256 * kKiB);
  BOOST_TEST_REQUIRE(whole.has_value());
  share.on_outcome(*whole, Error(Errc::kFlushed, "by another read's fence"));
  std::uint64_t again = 0;
  while (again < whole->length) {
    const std::uint64_t room = 10'000 + again / 2;
    const auto piece = share.next(room);
    BOOST_TEST_REQUIRE(piece.has_value());
    BOOST_TEST(piece->length == std::min(room, whole->length - again));
    BOOST_TEST(piece->tag == whole->tag + again);
    BOOST_TEST(piece->remote_offset == whole->remote_offset + again);
    BOOST_TEST((piece->destination == whole->destination + again));
    BOOST_TEST((piece->region == whole->region));
    again += piece->length;
    share.on_outcome(*piece, ok_result());
  }
  BOOST_TEST(again == whole->length);
  BOOST_TEST(share.landed_bytes() == whole->length);
  // Then the read goes on where it was.
  const auto next = share.next(1000);
  BOOST_TEST_REQUIRE(next.has_value());
  BOOST_TEST(next->tag == whole->tag + whole->length);
}

/// What one owner's last slice says concerns nobody who reads from another.
BOOST_AUTO_TEST_CASE(the_end_of_one_owners_part_wakes_the_rails_to_that_owner_only) {
  ObjectRig rig(8 * kMiB, kMiB, rails_to(2, 1));
  const ReadRequest request = rig.request(ObjectDemand::whole(8 * kMiB), false);
  FakeRail rail(rig.world, "one of two", [](const Slice&) -> Result<void> { return ok_result(); });
  std::vector<std::byte*> bases;
  for (const SlabChunk& chunk : request.chunks) bases.push_back(chunk.bytes().data());
  const std::uint32_t rails[] = {2, 2};
  SharedRead shared(request.plan, bases, ReadContext{}, kMiB, rails, false);
  std::size_t woken[] = {0, 0};
  for (std::size_t i = 0; i < 2; ++i) shared.parts[i]->wake = [&woken, i] { ++woken[i]; };
  RailShare share(shared, *shared.parts[1], *rail.get(), false, {}, nullptr, rig.world.clock(),
                  std::chrono::seconds(2));
  while (const auto slice = share.next(kMiB)) share.on_outcome(*slice, ok_result());
  BOOST_TEST(share.landed_bytes() == shared.parts[1]->bytes);
  BOOST_TEST(woken[0] == 0U);
  BOOST_TEST(woken[1] > 0U);
}

BOOST_AUTO_TEST_CASE(each_rail_uses_the_keys_of_its_own_port) {
  ReadRig rig(small_shape(), {}, 1);
  std::map<std::string, std::map<std::uint32_t, std::uint64_t>> used;
  const auto recording = [&](const std::string& name) {
    return [&used, name](const Slice& slice) -> Result<void> {
      used[name][slice.region.value()] = slice.remote_key;
      return ok_result();
    };
  };
  FakeRail first(rig.world, "first", recording("first"));
  FakeRail second(rig.world, "second", recording("second"));
  FakeRail keyless(rig.world, "keyless", recording("keyless"));
  ReadRequest request = request_over(rig, {first.get(), second.get(), keyless.get()});
  request.region_keys = {{11, 12}, {21, 22}, {}};
  std::map<std::uint32_t, std::uint32_t> index;  // by region id
  for (const auto& span : request.plan->spans()) index[span.region_id.value()] = span.region;
  BOOST_TEST_REQUIRE(index.size() == 2U);
  const auto read = rig.make(std::move(request));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(used.size() == 3U);
  for (const auto& [region, key] : used["first"]) BOOST_TEST(key == 11U + index[region]);
  for (const auto& [region, key] : used["second"]) BOOST_TEST(key == 21U + index[region]);
  for (const auto& [region, key] : used["keyless"]) BOOST_TEST(key == 0U);
}

BOOST_AUTO_TEST_CASE(too_few_keys_are_refused_before_anything_is_posted) {
  for (const Keys& keys : {Keys{{11}, {21, 22}}, Keys{{11, 12}}, Keys{{11, 12}, {21, 22}, {}}}) {
    ReadRig rig(small_shape(), {}, 1);
    std::size_t posted = 0;
    const auto counting = [&](const Slice&) -> Result<void> {
      ++posted;
      return ok_result();
    };
    FakeRail first(rig.world, "first", counting);
    FakeRail second(rig.world, "second", counting);
    ReadRequest request = request_over(rig, {first.get(), second.get()});
    request.region_keys = keys;
    const auto read = rig.make(std::move(request));
    const auto result = rig.finish(*read);
    BOOST_TEST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == Errc::kInvalidArgument), text_of(result));
    BOOST_TEST(posted == 0U);
  }
}

/// What two rails that need keys lack: all, or those of one region.
const std::vector<Keys> kLackingKeys = {Keys{{}, {}}, Keys{{11, 0}, {}}, Keys{{0, 12}, {0, 0}}};

/// It may have connected after the read was asked for, or the holder's device does not know all.
BOOST_AUTO_TEST_CASE(a_rail_that_lacks_a_key_it_needs_is_skipped) {
  for (const Keys& keys : kLackingKeys) {
    ReadRig rig(small_shape(), {}, 1);
    std::size_t posted = 0;
    const auto counting = [&](const Slice&) -> Result<void> {
      ++posted;
      return ok_result();
    };
    FakeRail device(rig.world, "device", counting, true);
    FakeRail keyless(rig.world, "keyless", [](const Slice&) { return ok_result(); });
    ReadRequest request = request_over(rig, {device.get(), keyless.get()});
    request.region_keys = keys;
    const auto read = rig.make(std::move(request));
    const auto result = rig.finish(*read);
    BOOST_TEST(result.ok(), text_of(result));
    BOOST_TEST(posted == 0U);
    BOOST_TEST_REQUIRE(read->report().rails.size() == 2U);
    BOOST_TEST(read->report().rails[0].down.find("told no key") != std::string::npos);
    BOOST_TEST(read->report().rails[1].down.empty());
  }
}

BOOST_AUTO_TEST_CASE(without_the_keys_of_any_rail_nothing_is_posted) {
  std::vector<Keys> lacking = kLackingKeys;
  lacking.emplace_back();
  for (const Keys& keys : lacking) {
    ReadRig rig(small_shape(), {}, 1);
    std::size_t posted = 0;
    const auto counting = [&](const Slice&) -> Result<void> {
      ++posted;
      return ok_result();
    };
    FakeRail first(rig.world, "first", counting, true);
    FakeRail second(rig.world, "second", counting, true);
    ReadRequest request = request_over(rig, {first.get(), second.get()});
    request.region_keys = keys;
    const auto read = rig.make(std::move(request));
    const auto result = rig.finish(*read);
    BOOST_TEST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == Errc::kProtocol), text_of(result));
    BOOST_TEST(posted == 0U);
  }
}

BOOST_AUTO_TEST_CASE(what_the_rails_write_shares_no_cache_line) {
  ReadRig rig(small_shape(), {}, 1);
  const std::uint32_t rails[] = {1};
  const SharedRead shared(rig.request().plan, {}, ReadContext(), kMiB, rails, false);
  const OwnerPart& part = *shared.parts[0];
  const auto line_of = [](const auto& member) {
    return reinterpret_cast<std::uintptr_t>(&member) / kCacheLineBytes;
  };
  const std::set<std::uintptr_t> lines{line_of(shared.max_slice_bytes),
                                       line_of(shared.stopped),
                                       line_of(part.bytes),
                                       line_of(part.cursor),
                                       line_of(part.landed_bytes),
                                       line_of(part.returned)};
  BOOST_TEST(lines.size() == 6U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
