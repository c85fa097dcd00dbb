#include "engine/object/striping_info.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

#include "test/object/sample_striping.h"

namespace corail::test {
namespace {

void check_refused(const StripingInfo& info, std::string_view part) {
  const auto checked = check_striping(info);
  BOOST_TEST_CONTEXT(part) {
    BOOST_REQUIRE(!checked.ok());
    BOOST_TEST((checked.error().code() == Errc::kBadManifest));
    BOOST_TEST(checked.error().detail().find(part) != std::string::npos,
               checked.error().to_string());
  }
}

BOOST_AUTO_TEST_SUITE(striping_info)

BOOST_AUTO_TEST_CASE(sound_manifests_pass) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, kGranuleBytes,
                                   7 * kGranuleBytes + 5, 10 * kGranuleBytes}) {
    const auto checked = check_striping(sample_striping(size));
    BOOST_TEST(checked.ok(), (checked ? "" : checked.error().to_string()));
  }
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_said) {
  const StripingInfo sound = sample_striping(7 * kGranuleBytes + 5);
  StripingInfo info = sound;
  info.home = 2;
  check_refused(info, "node 2 of 2");
  info = sound;
  info.granules.pop_back();
  check_refused(info, "checksums of 7 granules, but its 1835013 bytes have 8");
  info = sound;
  info.granules[3] = Checksum64(1);
  check_refused(info, "stripe 1 that is not made of its granules'");
  info = sound;
  std::swap(info.granules[4], info.granules[5]);
  check_refused(info, "stripe 2");
  info = sound;
  info.object.chunks.pop_back();
  check_refused(info, "3 chunks");
  info = sound;
  info.object.size = (kMaxObjectGranules + 1) * kGranuleBytes;
  info.object.stripe_size = kGiB;
  info.object.chunks.assign(1025, {1, 0, 0, kGiB, Checksum64(0)});
  info.object.chunks.back().length = kGranuleBytes;
  check_refused(info, "more than the 1099511627776 allowed");
}

BOOST_AUTO_TEST_CASE(granules_of_a_stripe_are_its_own) {
  const StripingInfo info = sample_striping(5 * kGranuleBytes);
  BOOST_TEST(granules_of_stripe(info, 0).size() == 2U);
  BOOST_TEST(granules_of_stripe(info, 2).size() == 1U);
  BOOST_TEST((granules_of_stripe(info, 2)[0] == info.granules[4]));
}

BOOST_AUTO_TEST_CASE(keys_have_a_length) {
  BOOST_TEST(check_object_key("k").ok());
  BOOST_TEST(check_object_key(std::string(1024, '/')).ok());
  BOOST_TEST(!check_object_key("").ok());
  BOOST_TEST(!check_object_key(std::string(1025, 'k')).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
