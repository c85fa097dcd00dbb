#include "engine/store/open_put.h"

#include <boost/test/unit_test.hpp>

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(open_put)

/// Whoever commits a later put looks for earlier ones of its key, also for those that are being
/// installed and may still overtake it.
BOOST_AUTO_TEST_CASE(a_put_that_has_given_away_its_manifest_is_still_known_by_its_key) {
  PutRequest request;
  request.key = "weights/shard-3";
  request.size = 0;
  request.stripe_size = kGranuleBytes;
  detail::OpenPut put(request, ObjectGeneration(7), ObjectNode(), 1, nullptr);
  const StripingInfo info = put.finish();
  BOOST_TEST(info.object.key == "weights/shard-3");
  BOOST_TEST(put.key() == "weights/shard-3");
  BOOST_TEST((put.generation() == ObjectGeneration(7)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
