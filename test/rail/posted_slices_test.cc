#include "engine/rail/posted_slices.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <vector>

#include "engine/base/random.h"

namespace corail::test {
namespace {

class Nobody final : public SliceSink {
 public:
  void on_landed(const Slice&, std::uint64_t, std::uint64_t) noexcept override {}
  void on_outcome(const Slice&, Result<void>) noexcept override {}
};

TimePoint at(std::uint64_t seconds) { return TimePoint(std::chrono::seconds(seconds)); }

BOOST_AUTO_TEST_SUITE(posted_slices)

BOOST_AUTO_TEST_CASE(a_slice_that_others_overtake_stays_silent) {
  const Nobody sink;
  PostedSlices posted;
  posted.reserve(4);
  BOOST_TEST(posted.empty());
  posted.add(sink, 1, at(1));
  posted.add(sink, 2, at(2));
  posted.landed(sink, 2, at(3));
  posted.end(sink, 2, at(4));
  posted.add(sink, 3, at(5));
  posted.landed(sink, 3, at(6));
  BOOST_TEST((posted.heard() == at(1)));
  posted.landed(sink, 1, at(7));
  BOOST_TEST((posted.heard() == at(7)));
  posted.end(sink, 1, at(8));
  // Nobody is before it any more, from here on.
  BOOST_TEST((posted.heard() == at(8)));
  BOOST_TEST(posted.size() == 1U);
}

BOOST_AUTO_TEST_CASE(tags_are_each_sinks_own) {
  const Nobody one;
  const Nobody two;
  PostedSlices posted;
  posted.add(one, 7, at(1));
  posted.add(two, 7, at(2));
  posted.end(two, 7, at(3));
  BOOST_TEST((posted.heard() == at(1)));
}

/// A straightforward list of what happened to each slice.
struct ModelSlice {
  std::uint64_t tag = 0;
  std::uint64_t heard = 0;
};

BOOST_AUTO_TEST_CASE(it_agrees_with_a_model) {
  const Nobody sink;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SeededRandom random(seed);
    PostedSlices posted;
    posted.reserve(random.below(8));
    std::vector<ModelSlice> model;
    std::uint64_t next_tag = 0;
    for (std::uint64_t now = 1; now <= 500; ++now) {
      const std::uint64_t what = random.below(3);
      const std::size_t which = model.empty() ? 0 : random.below(model.size());
      if (what == 0 || model.empty()) {
        posted.add(sink, next_tag, at(now));
        model.push_back({next_tag++, now});
      } else if (what == 1) {
        posted.landed(sink, model[which].tag, at(now));
        model[which].heard = now;
      } else {
        posted.end(sink, model[which].tag, at(now));
        model.erase(model.begin() + static_cast<std::ptrdiff_t>(which));
        if (which == 0 && !model.empty()) model.front().heard = now;
      }
      BOOST_REQUIRE(posted.size() == model.size());
      if (!model.empty()) BOOST_REQUIRE((posted.heard() == at(model.front().heard)));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
