#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "engine/read/rail_share.h"
#include "test/read/fake_rail.h"
#include "test/support/read_rig.h"

// What no modelled device does: rails that answer just what the test says.

namespace corail::test {
namespace {

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
