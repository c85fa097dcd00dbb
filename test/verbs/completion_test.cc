#include "engine/verbs/completion.h"

#include <infiniband/verbs.h>

#include <boost/test/unit_test.hpp>
#include <string>

namespace corail {
namespace {

Completion failed(int status) {
  Completion completion;
  completion.status = status;
  completion.queue_pair = 17;
  return completion;
}

BOOST_AUTO_TEST_SUITE(completions)

BOOST_AUTO_TEST_CASE(each_status_is_somebodys) {
  BOOST_TEST((blame_of(IBV_WC_SUCCESS) == Blame::kNone));
  BOOST_TEST((blame_of(IBV_WC_WR_FLUSH_ERR) == Blame::kFlushed));
  for (const int status : {IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOC_PROT_ERR,
                           IBV_WC_LOC_ACCESS_ERR, IBV_WC_MW_BIND_ERR}) {
    BOOST_TEST((blame_of(status) == Blame::kCaller), status);
  }
  for (const int status : {IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR, IBV_WC_REM_OP_ERR,
                           IBV_WC_REM_INV_RD_REQ_ERR, IBV_WC_BAD_RESP_ERR}) {
    BOOST_TEST((blame_of(status) == Blame::kPeer), status);
  }
  for (const int status : {IBV_WC_RETRY_EXC_ERR, IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_FATAL_ERR,
                           IBV_WC_GENERAL_ERR, IBV_WC_RESP_TIMEOUT_ERR}) {
    BOOST_TEST((blame_of(status) == Blame::kPath), status);
  }
  BOOST_TEST((blame_of(12345) == Blame::kPath));
}

BOOST_AUTO_TEST_CASE(only_the_paths_errors_touch_a_rails_health) {
  BOOST_TEST((error_of(failed(IBV_WC_RETRY_EXC_ERR), "d").code() == Errc::kRailFailed));
  BOOST_TEST((error_of(failed(IBV_WC_RETRY_EXC_ERR), "d").error_class() == ErrorClass::kTransport));
  BOOST_TEST((error_of(failed(IBV_WC_REM_ACCESS_ERR), "d").error_class() == ErrorClass::kPeer));
  BOOST_TEST((error_of(failed(IBV_WC_LOC_PROT_ERR), "d").error_class() == ErrorClass::kCaller));
  BOOST_TEST((error_of(failed(IBV_WC_WR_FLUSH_ERR), "d").code() == Errc::kFlushed));
}

BOOST_AUTO_TEST_CASE(an_error_says_where_and_what_to_check) {
  const std::string text = error_of(failed(IBV_WC_RETRY_EXC_ERR), "mlx5_0").detail();
  for (const char* part : {"transport retry counter exceeded", "mlx5_0", "queue pair 17", "MTU"}) {
    BOOST_TEST(text.find(part) != std::string::npos, part << " in " << text);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
