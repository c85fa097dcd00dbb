#include "engine/verbs/send_queue_account.h"

#include <infiniband/verbs.h>

#include <boost/test/unit_test.hpp>
#include <vector>

namespace corail {
namespace {

using Requests = std::vector<std::uint64_t>;

Completion completion(std::uint64_t request, int status = IBV_WC_SUCCESS) {
  Completion made;
  made.request = request;
  made.status = status;
  return made;
}

BOOST_AUTO_TEST_SUITE(send_queue_accounts)

BOOST_AUTO_TEST_CASE(a_completion_speaks_for_the_silent_ones_before_it) {
  SendQueueAccount account;
  for (std::uint64_t request = 1; request <= 4; ++request) account.posted(request, request == 4);
  const auto ended = account.completed(completion(4));
  BOOST_TEST_REQUIRE(ended.has_value());
  BOOST_TEST(ended->succeeded == Requests({1, 2, 3}));
  BOOST_TEST(ended->own == 4);
  BOOST_TEST(account.outstanding() == 0);
}

BOOST_AUTO_TEST_CASE(after_a_failure_every_request_is_flushed_by_name) {
  SendQueueAccount account;
  for (std::uint64_t request = 1; request <= 5; ++request) account.posted(request, request == 5);
  const auto failed = account.completed(completion(3, IBV_WC_REM_ACCESS_ERR));
  BOOST_TEST_REQUIRE(failed.has_value());
  BOOST_TEST(failed->succeeded == Requests({1, 2}));
  BOOST_TEST(failed->own == 3);
  for (const std::uint64_t request : {4U, 5U}) {
    const auto flushed = account.completed(completion(request, IBV_WC_WR_FLUSH_ERR));
    BOOST_TEST_REQUIRE(flushed.has_value());
    BOOST_TEST(flushed->succeeded.empty());
    BOOST_TEST(flushed->own == request);
  }
  BOOST_TEST(account.outstanding() == 0);
}

BOOST_AUTO_TEST_CASE(late_and_invented_completions_are_none) {
  SendQueueAccount account;
  account.posted(1, true);
  BOOST_TEST(account.completed(completion(1)).has_value());
  BOOST_TEST(!account.completed(completion(1)).has_value());
  BOOST_TEST(!account.completed(completion(77)).has_value());
}

BOOST_AUTO_TEST_CASE(silence_has_a_bound_and_the_last_one_speaks) {
  SendQueueAccount account;
  std::uint32_t silent = 0;
  for (std::uint64_t request = 0; request < 100; ++request) {
    const bool signalled = account.must_signal(false);
    account.posted(request, signalled);
    silent = signalled ? 0 : silent + 1;
    BOOST_TEST(silent < SendQueueAccount::kMaxSilent);
  }
  BOOST_TEST(account.must_signal(true));
}

BOOST_AUTO_TEST_CASE(what_is_left_of_a_destroyed_queue_is_known) {
  SendQueueAccount account;
  for (std::uint64_t request = 1; request <= 3; ++request) account.posted(request, false);
  BOOST_TEST(account.abandon() == Requests({1, 2, 3}));
  BOOST_TEST(account.outstanding() == 0);
  BOOST_TEST(!account.completed(completion(2)).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
