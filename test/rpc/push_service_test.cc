// The owner's side of pushes, with doors that a test lets go of: which orders it takes, and what it
// waits for.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "test/rpc/owner_world.h"

namespace corail::test {
namespace {

using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(push_service)

BOOST_AUTO_TEST_CASE(an_order_is_answered_when_its_door_has_sent_it) {
  OwnerWorld owner;
  BOOST_REQUIRE(owner.open(1).ok());
  const auto answer = owner.order(1, kOwnedStripe + 5, 70);
  BOOST_REQUIRE(owner.doors.pushes.size() == 1U);
  const auto& push = *owner.doors.pushes.front();
  BOOST_TEST((push.order.number == 1U && push.door == 0U));
  BOOST_TEST(
      std::equal(push.bytes.begin(), push.bytes.end(), owner.content.begin() + kOwnedStripe + 5));
  BOOST_TEST(push.bytes.size() == 70U);
  BOOST_TEST(!push.cancelled());
  BOOST_TEST(!answer->has_value());
  owner.doors.end_all(ok_result());
  owner.world.settle();
  BOOST_REQUIRE(answer->has_value());
  BOOST_REQUIRE((*answer)->ok());
  BOOST_TEST((**answer)->bytes == 70U);
}

BOOST_AUTO_TEST_CASE(what_is_no_part_of_a_stripe_that_was_opened_is_refused) {
  OwnerWorld owner;
  BOOST_TEST((owner.refusal(1, 0, 1) == Errc::kRefused));
  BOOST_REQUIRE(owner.open(1).ok());
  BOOST_TEST((owner.refusal(2, 0, 1) == Errc::kRefused));
  BOOST_TEST((owner.refusal(1, kOwnedStripe - 1, 2) == Errc::kRefused));
  BOOST_TEST((owner.refusal(1, kOwnedBytes - 1, 2) == Errc::kRefused));
  BOOST_TEST((owner.refusal(1, kOwnedBytes, 1) == Errc::kRefused));
  BOOST_TEST((owner.refusal(1, ~std::uint64_t{0} - 5, 3) == Errc::kRefused));
  owner.order(1, kOwnedBytes - 1, 1);
  BOOST_TEST(owner.doors.pushes.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_door_that_says_no_is_heard) {
  OwnerWorld owner;
  BOOST_REQUIRE(owner.open(1).ok());
  const auto answer = owner.order(1, 0, 8);
  owner.doors.end_all(Error(Errc::kRefused, "the number was used"));
  owner.world.settle();
  BOOST_REQUIRE((answer->has_value() && !(*answer)->ok()));
  BOOST_TEST(((*answer)->error().code() == Errc::kRefused));
}

BOOST_AUTO_TEST_CASE(only_a_clear_no_is_told_as_one) {
  // Of these nobody knows what is still on its way: the reader's rail has to fence (I1).
  for (const Errc code : {Errc::kConnectionLost, Errc::kRailFailed, Errc::kFlushed, Errc::kDeadline,
                          Errc::kStuck, Errc::kProtocol}) {
    OwnerWorld owner;
    BOOST_REQUIRE(owner.open(1).ok());
    const auto answer = owner.order(1, 0, 8);
    owner.doors.end_all(Error(code, "the channel ended"));
    owner.world.settle();
    BOOST_REQUIRE((answer->has_value() && !(*answer)->ok()));
    BOOST_TEST(((*answer)->error().code() == Errc::kConnectionLost),
               to_string((*answer)->error().code()));
  }
}

BOOST_AUTO_TEST_CASE(orders_that_end_with_their_session_leave_open_what_is_written) {
  OwnerWorld owner;
  BOOST_REQUIRE(owner.open(1).ok());
  const auto answer = owner.order(1, 0, 8);
  owner.world.run(close(owner.client.get()));
  BOOST_REQUIRE((answer->has_value() && !(*answer)->ok()));
  BOOST_TEST(((*answer)->error().code() == Errc::kConnectionLost));
  owner.client.reset();
  owner.world.run_for(seconds(1));
}

BOOST_AUTO_TEST_CASE(a_read_that_is_confirmed_does_not_wait_for_a_rail_that_it_has_lost) {
  OwnerWorld owner;
  BOOST_REQUIRE(owner.open(1).ok());
  const auto answer = owner.order(1, 0, 8);
  auto confirmed = owner.world.start(
      owner.client->confirm_and_release(ReadId(1), owner.world.now() + seconds(5), CancelToken()));
  owner.world.settle();
  BOOST_REQUIRE(confirmed->has_value());
  BOOST_TEST((*confirmed)->ok());
  BOOST_TEST(owner.doors.pushes.front()->cancelled());
  BOOST_TEST(owner.store->stats().leases == 0U);
  owner.doors.end_all(Error(Errc::kCancelled, "it was given up"));
  owner.world.settle();
  BOOST_TEST(answer->has_value());
}

BOOST_AUTO_TEST_CASE(a_release_is_answered_when_nothing_is_on_its_way_any_more) {
  OwnerWorld owner;
  BOOST_REQUIRE(owner.open(1).ok());
  const auto answer = owner.order(1, 0, 8);
  auto released =
      owner.world.start(owner.client->release(ReadId(1), owner.world.now() + seconds(5)));
  owner.world.settle();
  BOOST_TEST(owner.doors.pushes.front()->cancelled());
  BOOST_TEST(!released->has_value());
  BOOST_TEST((owner.refusal(1, 0, 8) == Errc::kRefused));
  owner.doors.end_all(Error(Errc::kCancelled, "it was given up"));
  owner.world.settle();
  BOOST_REQUIRE(released->has_value());
  BOOST_TEST((*released)->ok());
  BOOST_REQUIRE((answer->has_value() && !(*answer)->ok()));
  BOOST_TEST(((*answer)->error().code() == Errc::kCancelled));
  BOOST_TEST(owner.store->stats().leases == 0U);
}

BOOST_AUTO_TEST_CASE(a_quiesced_read_keeps_its_lease_and_takes_no_orders) {
  OwnerWorld owner;
  BOOST_REQUIRE(owner.open(1).ok());
  const auto quiet =
      owner.world.run(owner.client->quiesce(ReadId(1), owner.world.now() + seconds(5)));
  BOOST_TEST(quiet.ok());
  BOOST_TEST((owner.refusal(1, 0, 8) == Errc::kRefused));
  BOOST_TEST(owner.store->stats().leases == 1U);
  const auto released =
      owner.world.run(owner.client->release(ReadId(1), owner.world.now() + seconds(5)));
  BOOST_TEST(released.ok());
  BOOST_TEST(owner.store->stats().leases == 0U);
}

BOOST_AUTO_TEST_CASE(a_session_that_ends_is_not_held_up_by_a_door_and_ends_its_orders) {
  OwnerWorld owner;
  BOOST_REQUIRE(owner.open(1).ok());
  BOOST_REQUIRE(owner.open(2).ok());  // nobody releases it
  owner.order(1, 0, 8);
  auto released =
      owner.world.start(owner.client->release(ReadId(1), owner.world.now() + seconds(5)));
  owner.world.settle();
  owner.world.run(close(owner.client.get()));
  owner.client.reset();
  owner.world.run_for(seconds(1));
  BOOST_TEST(owner.doors.drops == 1);
  BOOST_TEST(owner.store->stats().leases == 0U);
  BOOST_TEST(owner.server->sessions() == 0U);
  BOOST_TEST((released->has_value() && !(*released)->ok()));
}

BOOST_AUTO_TEST_CASE(orders_of_a_session_are_bounded_and_none_is_lost) {
  OwnerWorld owner;
  BOOST_REQUIRE(owner.open(1).ok());
  std::vector<OwnerWorld::Answer> answers;
  for (std::uint64_t i = 0; i < 2 * kMaxOrdersUnderWay; ++i)
    answers.push_back(owner.order(1, i, 1));
  BOOST_TEST(owner.doors.pushes.size() == kMaxOrdersUnderWay);
  while (owner.doors.pushes.size() < answers.size()) {
    owner.doors.end_all(ok_result());
    owner.world.settle();
  }
  owner.doors.end_all(ok_result());
  owner.world.settle();
  for (const auto& answer : answers) BOOST_TEST((answer->has_value() && (*answer)->ok()));
}

PushStagingOptions buffers_of(std::uint64_t bytes) {
  PushStagingOptions options;
  options.buffers = 2;
  options.buffer_bytes = bytes;
  return options;
}

BOOST_AUTO_TEST_CASE(what_is_on_a_disk_is_staged_and_one_session_leaves_room_to_others) {
  OwnerWorld owner(buffers_of(kGranuleBytes));
  const auto open = owner.open(1);
  BOOST_REQUIRE(open.ok());
  BOOST_TEST((!open->answer.in_memory && open->answer.most_pushed == kGranuleBytes));
  const auto first = owner.order(1, kOwnedStripe + 5, 70);
  const auto second = owner.order(1, 0, kOwnedStripe);
  BOOST_TEST(owner.doors.pushes.size() == 1U);
  BOOST_TEST(owner.staging->free_buffers() == 1U);
  const auto& push = *owner.doors.pushes.front();
  BOOST_TEST(
      std::equal(push.bytes.begin(), push.bytes.end(), owner.content.begin() + kOwnedStripe + 5));
  owner.doors.end_all(ok_result());
  owner.world.settle();
  BOOST_REQUIRE(owner.doors.pushes.size() == 2U);
  BOOST_TEST((first->has_value() && !second->has_value()));
  BOOST_TEST(std::equal(owner.content.begin(), owner.content.begin() + kOwnedStripe,
                        owner.doors.pushes.back()->bytes.begin()));
  owner.doors.end_all(ok_result());
  owner.world.settle();
  BOOST_TEST((second->has_value() && (*second)->ok()));
  BOOST_TEST(owner.staging->free_buffers() == 2U);
}

BOOST_AUTO_TEST_CASE(a_read_that_is_released_does_not_wait_for_memory_that_others_hold) {
  OwnerWorld owner(buffers_of(kGranuleBytes));
  BOOST_REQUIRE(owner.open(1).ok());
  BOOST_REQUIRE(owner.open(2).ok());
  // The session's share, at a door that does not get rid of it.
  const auto slow = owner.order(1, 0, 70);
  const auto waiting = owner.order(2, kOwnedStripe, 70);
  BOOST_REQUIRE(owner.doors.pushes.size() == 1U);
  const auto released =
      owner.world.run(owner.client->release(ReadId(2), owner.world.now() + seconds(5)));
  BOOST_TEST(released.ok());
  owner.world.settle();
  BOOST_REQUIRE((waiting->has_value() && !(*waiting)->ok()));
  BOOST_TEST(((*waiting)->error().code() == Errc::kCancelled));
  BOOST_TEST(!slow->has_value());
  owner.doors.end_all(ok_result());
  owner.world.settle();
  BOOST_TEST((slow->has_value() && (*slow)->ok()));
  BOOST_TEST(owner.doors.pushes.size() == 1U);
  BOOST_TEST(owner.staging->free_buffers() == 2U);
}

BOOST_AUTO_TEST_CASE(an_order_that_no_buffer_holds_is_refused) {
  OwnerWorld owner(buffers_of(4096));
  // What such an owner would say, no reader takes.
  BOOST_TEST((owner.open(1).error().code() == Errc::kProtocol));
  BOOST_TEST((owner.refusal(1, 0, 4097) == Errc::kTooLarge));
  owner.order(1, 5, 4096);
  BOOST_REQUIRE(owner.doors.pushes.size() == 1U);
  const auto& bytes = owner.doors.pushes.front()->bytes;
  BOOST_TEST(std::equal(bytes.begin(), bytes.end(), owner.content.begin() + 5));
}

BOOST_AUTO_TEST_CASE(bytes_that_a_disk_has_spoiled_are_not_pushed) {
  OwnerWorld owner(buffers_of(kGranuleBytes));
  BOOST_REQUIRE(owner.open(1).ok());
  for (const std::string& name : owner.disk.names("/disk")) {
    if (!name.ends_with(".stripes")) continue;
    (*owner.disk.content("/disk", name))[kOwnedStripe + 100] ^= std::byte{1};
  }
  BOOST_TEST((owner.refusal(1, kOwnedStripe + 5, 70) == Errc::kStoreFailed));
  owner.order(1, 0, 70);
  BOOST_TEST(owner.doors.pushes.size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
