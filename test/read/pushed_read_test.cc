#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/push_source.h"
#include "test/read/object_rig.h"
#include "test/read/pushing_rail.h"

// Reads whose bytes the owners write: the same session, with rights that it gives and takes back.

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using Events = std::vector<std::string>;

constexpr std::uint64_t kSize = 6 * kMiB + 11;
const ObjectDemand kWhole = ObjectDemand::whole(kSize);

std::string text_of(const Result<void>& result) {
  return result.ok() ? "success" : result.error().to_string();
}

/// Owners that write, with one rail to each of the first `scripts.size()`.
struct PushRig {
  explicit PushRig(std::size_t nodes, std::size_t rails_each = 1)
      : rig(kSize, kMiB, std::vector<std::vector<RailPlan>>(nodes)),
        region(pushed_region(*rig.held.descriptor).value()) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      rig.held.sources[node] = pushed_stripes(*rig.held.descriptor, node, region);
      for (std::size_t i = 0; i < rails_each; ++i) {
        auto& script = scripts.emplace_back(std::make_unique<PushScript>());
        script->object = rig.held.content;
        owner_of.push_back(node);
      }
    }
  }

  /// Once the scripts are written.
  ReadRequest request(const ObjectDemand& demand = kWhole) {
    ReadRequest request = rig.request(demand, true);
    request.pushed = true;
    for (std::size_t i = rails.size(); i < scripts.size(); ++i) {
      rails.push_back(
          std::make_unique<PushingRail>(rig.world, "push" + std::to_string(i), *scripts[i]));
    }
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      request.rails.push_back(rails[i]->get());
      request.rail_owners.push_back(owner_of[i]);
    }
    cancel = request.cancel;
    return request;
  }

  /// Starts the read, gives it up after `after`, and runs to its end.
  Result<void> give_up(ReadRequest request, Duration after) {
    for (const auto& owner : rig.owners) owner->lease(request.read);
    ReadSession session(rig.world.executor(), rig.world.clock(), *rig.group, std::move(request));
    const auto outcome = rig.world.start(session.run(rig.report));
    rig.world.run_for(after);
    BOOST_TEST_REQUIRE(!outcome->has_value());
    asked = rig.world.now();
    cancel.cancel();
    while (!outcome->has_value()) BOOST_REQUIRE(rig.world.step());
    ended = rig.world.now();
    return **outcome;
  }

  ObjectRig rig;
  RegionTable region;
  std::vector<std::unique_ptr<PushScript>> scripts;
  std::vector<std::uint32_t> owner_of;
  std::vector<std::unique_ptr<PushingRail>> rails;
  CancelToken cancel;
  TimePoint asked{};
  TimePoint ended{};
};

BOOST_AUTO_TEST_SUITE(pushed_reads)

BOOST_AUTO_TEST_CASE(are_byte_exact_and_grant_before_they_post) {
  PushRig it(2, 2);
  const auto result = it.rig.run(it.request());
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(it.rig.complaint(kWhole) == "");
  BOOST_TEST(it.rig.report.verified_bytes == kSize);
  BOOST_TEST(it.rig.leases() == 0U);
  for (const auto& script : it.scripts) {
    BOOST_TEST((script->events == Events{"grant", "post", "revoke"}));
    for (const Slice& slice : script->posted) {
      BOOST_TEST(slice.pushed);
      BOOST_TEST(slice.remote_key == 0U);
      BOOST_TEST(slice.remote_offset + slice.length <= kSize);
    }
  }
}

BOOST_AUTO_TEST_CASE(of_ranges_ask_for_offsets_in_the_object) {
  PushRig it(1);
  ObjectDemand demand;
  demand.ranges = {{3 * kMiB, kMiB}, {6 * kMiB, 11}};
  const auto result = it.rig.run(it.request(demand));
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(it.rig.complaint(demand) == "");
  std::uint64_t lowest = kSize;
  for (const Slice& slice : it.scripts[0]->posted) lowest = std::min(lowest, slice.remote_offset);
  BOOST_TEST(lowest == 3 * kMiB);
}

BOOST_AUTO_TEST_CASE(an_owner_may_write_into_the_chunks_of_its_own_stripes_only) {
  PushRig it(2);
  ObjectDemand demand = kWhole;
  // A chunk for each stripe.
  for (std::uint64_t at = 0; at < kSize; at += kMiB) {
    const std::uint64_t length = std::min<std::uint64_t>(kMiB, kSize - at);
    demand.landings.push_back({{at, length}, static_cast<std::uint32_t>(at / kMiB), 0});
    demand.chunk_bytes.push_back(length);
  }
  const auto result = it.rig.run(it.request(demand));
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  std::size_t granted = 0;
  for (std::uint32_t node = 0; node < 2; ++node) {
    const auto owned = std::ranges::count(it.rig.held.descriptor->chunks, node, &ObjectChunk::node);
    BOOST_TEST(it.scripts[node]->granted.size() == static_cast<std::size_t>(owned));
    granted += it.scripts[node]->granted.size();
  }
  BOOST_TEST(granted == it.rig.chunks.size());
}

BOOST_AUTO_TEST_CASE(rails_that_do_not_push_are_skipped_with_the_reason) {
  PushRig it(1, 2);
  it.scripts[0]->pushes = false;
  const auto result = it.rig.run(it.request());
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(it.scripts[0]->events.empty());
  BOOST_TEST(it.rig.report.rails[0].down.find("no owner write") != std::string::npos);
  PushRig none(1, 2);
  for (const auto& script : none.scripts) script->pushes = false;
  const auto refused = none.rig.run(none.request());
  BOOST_TEST_REQUIRE(!refused.ok());
  BOOST_TEST((refused.error().code() == Errc::kIncompatible), text_of(refused));
}

BOOST_AUTO_TEST_CASE(a_rail_that_cannot_grant_posts_nothing_and_the_others_make_it_good) {
  for (const bool retry : {false, true}) {
    PushRig it(1, 2);
    it.scripts[1]->grant_answer = Error(Errc::kOutOfMemory, "the device has no keys left");
    ReadRequest request = it.request();
    request.retry_on_survivors = retry;
    const auto result = it.rig.run(std::move(request));
    BOOST_TEST(result.ok() == retry, text_of(result));
    if (!retry) BOOST_TEST(text_of(result).find("no keys left") != std::string::npos);
    BOOST_TEST((it.scripts[1]->events == Events{"grant", "revoke"}));
    if (retry) BOOST_TEST(it.rig.complaint(kWhole) == "");
  }
}

BOOST_AUTO_TEST_CASE(a_cancel_tells_the_owner_at_once_and_fences_the_rail) {
  PushRig it(2);
  for (const auto& script : it.scripts) script->silent = true;
  for (const auto& owner : it.rig.owners) {
    owner->release_answer = OwnerAnswer(ok_result(), milliseconds(7));
  }
  const auto result = it.give_up(it.request(), milliseconds(2));
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == Errc::kCancelled), text_of(result));
  for (const auto& owner : it.rig.owners) BOOST_TEST(owner->releases == 1U);
  for (const auto& script : it.scripts) {
    BOOST_TEST((script->events == Events{"grant", "post", "fence", "revoke"}));
  }
  // The owners' word that they write no more is waited for, beside the fences.
  BOOST_TEST((it.ended - it.asked >= milliseconds(7)));
}

BOOST_AUTO_TEST_CASE(a_cancel_while_the_right_is_given_posts_nothing) {
  PushRig it(1);
  it.scripts[0]->grant_time = milliseconds(9);
  const auto result = it.give_up(it.request(), milliseconds(2));
  BOOST_TEST((result.error().code() == Errc::kCancelled), text_of(result));
  BOOST_TEST((it.scripts[0]->events == Events{"grant", "revoke"}));
  BOOST_TEST(it.rig.owners[0]->releases == 1U);
}

BOOST_AUTO_TEST_CASE(an_owners_no_fails_the_read_and_the_owners_are_told) {
  PushRig it(2);
  it.scripts[1]->answer = [](const Slice&) -> Result<void> {
    return Error(Errc::kStripeLost, "its memory was another boot's");
  };
  it.scripts[0]->silent = true;
  const auto result = it.rig.run(it.request());
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == Errc::kStripeLost), text_of(result));
  for (const auto& owner : it.rig.owners) BOOST_TEST(owner->releases == 1U);
  BOOST_TEST((it.scripts[0]->events == Events{"grant", "post", "fence", "revoke"}));
  BOOST_TEST(it.scripts[1]->events.back() == "revoke");
  BOOST_TEST(it.rig.leases() == 0U);
}

BOOST_AUTO_TEST_CASE(nothing_is_granted_for_an_empty_object) {
  ObjectRig rig(0, kMiB, rails_to(1, 1));
  PushScript script;
  PushingRail rail(rig.world, "push", script);
  ReadRequest request = rig.request(ObjectDemand::whole(0), false);
  request.pushed = true;
  request.rails = {rail.get()};
  const auto result = rig.run(std::move(request));
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(script.posted.empty());
  BOOST_TEST(script.granted.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
