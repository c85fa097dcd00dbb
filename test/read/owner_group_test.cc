#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/read/object_rig.h"

// Several owners as one: whom they ask, in what order, and whose word counts.

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const ReadId kRead(7);

OwnerAnswer says_no(Errc code, Duration after) {
  return OwnerAnswer(Error(code, "the test says so"), after);
}

struct Group {
  explicit Group(std::size_t count) {
    std::vector<OwnerGroup::Member> members;
    for (std::size_t i = 0; i < count; ++i) {
      owners.push_back(std::make_unique<ScriptedOwner>(world.executor(), world.clock()));
      owners.back()->lease(kRead);
      members.push_back({NodeId(i), owners.back().get()});
    }
    group = std::move(OwnerGroup::make(members, 0).value());
  }

  Result<void> confirm() {
    const TimePoint begin = world.now();
    auto result = world.run(group->confirm_and_release(kRead, begin + seconds(30), cancel));
    took = world.now() - begin;
    return result;
  }

  VirtualWorld world;
  std::vector<std::unique_ptr<ScriptedOwner>> owners;
  std::unique_ptr<OwnerGroup> group;
  CancelToken cancel;
  Duration took{};
};

Errc code_of(const Result<void>& result) { return result.ok() ? Errc() : result.error().code(); }

BOOST_AUTO_TEST_SUITE(owner_groups)

BOOST_AUTO_TEST_CASE(a_release_tells_all_at_once) {
  Group it(3);
  for (const auto& owner : it.owners)
    owner->release_answer = OwnerAnswer(ok_result(), milliseconds(10));
  const TimePoint begin = it.world.now();
  BOOST_TEST(it.world.run(it.group->release(kRead, begin + seconds(30))).ok());
  BOOST_TEST((it.world.now() - begin == milliseconds(10)));
  for (const auto& owner : it.owners) BOOST_TEST(owner->releases == 1U);
}

BOOST_AUTO_TEST_CASE(a_release_tells_the_others_where_one_hears_nothing) {
  for (std::size_t deaf = 0; deaf < 3; ++deaf) {
    Group it(3);
    it.owners[deaf]->release_answer = never_answers();
    const auto result = it.world.run(it.group->release(kRead, it.world.now() + seconds(1)));
    BOOST_TEST((code_of(result) == Errc::kDeadline));
    for (const auto& owner : it.owners) BOOST_TEST(owner->releases == 1U);
  }
}

BOOST_AUTO_TEST_CASE(the_first_no_ends_the_question) {
  for (std::size_t naysayer = 1; naysayer < 4; ++naysayer) {
    Group it(4);
    for (const auto& owner : it.owners) owner->confirm_answer = never_answers();
    it.owners[naysayer]->confirm_answer = says_no(Errc::kGenerationChanged, milliseconds(1));
    const auto result = it.confirm();
    // Also where those that were given up come before it.
    BOOST_TEST((code_of(result) == Errc::kGenerationChanged));
    BOOST_TEST((it.took == milliseconds(1)));
    BOOST_TEST(it.owners[0]->confirms == 0U);
  }
}

BOOST_AUTO_TEST_CASE(an_answer_outweighs_that_nobody_knows) {
  Group it(4);
  it.owners[1]->confirm_answer = says_no(Errc::kConnectionLost, milliseconds(1));
  it.owners[2]->confirm_answer = says_no(Errc::kLeaseExpired, milliseconds(1));
  it.owners[3]->confirm_answer = never_answers();
  BOOST_TEST((code_of(it.confirm()) == Errc::kLeaseExpired));
}

BOOST_AUTO_TEST_CASE(silence_is_a_no_of_all) {
  Group it(3);
  it.owners[2]->confirm_answer = never_answers();
  BOOST_TEST((code_of(it.confirm()) == Errc::kDeadline));
  BOOST_TEST(it.owners[0]->confirms == 0U);
}

BOOST_AUTO_TEST_CASE(who_gives_up_waits_for_nobody) {
  Group it(3);
  for (const auto& owner : it.owners) owner->confirm_answer = never_answers();
  const auto outcome =
      it.world.start(it.group->confirm(kRead, it.world.now() + seconds(30), it.cancel));
  it.world.run_for(milliseconds(2));
  it.cancel.cancel();
  it.world.settle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST((code_of(**outcome) == Errc::kCancelled));
}

BOOST_AUTO_TEST_CASE(a_node_is_an_owner_once_and_home_is_one_of_them) {
  VirtualWorld world;
  ScriptedOwner owner(world.executor(), world.clock());
  const std::vector<OwnerGroup::Member> twice{{NodeId(4), &owner}, {NodeId(4), &owner}};
  const auto refused = OwnerGroup::make(twice, 0);
  BOOST_TEST_REQUIRE(!refused.ok());
  BOOST_TEST((refused.error().code() == Errc::kInvalidArgument));
  const std::vector<OwnerGroup::Member> one{{NodeId(4), &owner}};
  BOOST_TEST(!OwnerGroup::make(one, 1).ok());
  BOOST_TEST(!OwnerGroup::make({}, 0).ok());
  const auto made = OwnerGroup::make(one, 0);
  BOOST_TEST_REQUIRE(made.ok());
  BOOST_TEST_REQUIRE((*made)->members().size() == 1U);
  BOOST_TEST(((*made)->members()[0] == NodeId(4)));
}

BOOST_AUTO_TEST_CASE(a_read_whose_owners_are_not_all_asked_does_not_begin) {
  const ObjectDemand demand = ObjectDemand::whole(12 * kMiB);
  for (const bool single : {false, true}) {
    ObjectRig rig(12 * kMiB, kMiB, rails_to(3, 1));
    const std::vector<OwnerGroup::Member> some{
        {rig.held.descriptor->nodes[0].id, rig.owners[0].get()},
        {rig.held.descriptor->nodes[2].id, rig.owners[2].get()}};
    const auto group = std::move(OwnerGroup::make(some, 0).value());
    Owner& asked = single ? static_cast<Owner&>(*rig.owners[0]) : *group;
    ReadSession session(rig.world.executor(), rig.world.clock(), asked, rig.request(demand, false));
    const auto result = rig.world.run(session.run(rig.report));
    BOOST_TEST((code_of(result) == Errc::kInvalidArgument));
    BOOST_TEST(rig.report.reads_posted == 0U);
  }
  // A range may need fewer owners than the object has.
  ObjectRig rig(12 * kMiB, kMiB, rails_to(3, 1));
  ObjectDemand first;
  first.ranges = {{0, kMiB}};
  BOOST_TEST(rig.run(rig.request(first, false)).ok());
}

BOOST_AUTO_TEST_CASE(a_destination_that_is_not_the_plans_is_refused) {
  for (const bool fewer : {false, true}) {
    ObjectRig rig(4 * kMiB, kMiB, rails_to(1, 1));
    ReadRequest request = rig.request(ObjectDemand::whole(4 * kMiB), false);
    request.chunks.pop_back();
    if (!fewer) request.chunks.push_back(rig.pool.allocate(4 * kMiB - 1, 0).value());
    const auto result = rig.run(std::move(request));
    BOOST_TEST((code_of(result) == Errc::kInvalidArgument));
    BOOST_TEST(rig.report.reads_posted == 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
