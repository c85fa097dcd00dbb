#pragma once

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <set>
#include <string>

namespace corail::test {

/// The guest's queue pairs, of all devices. The kernel takes numbers in turn, so that one which is
/// built anew has another number than the one it replaces.
inline std::set<std::string> queue_pairs() {
  std::set<std::string> found;
  std::FILE* const told = popen("rdma resource show qp", "r");
  BOOST_TEST_REQUIRE(told != nullptr);
  char link[64];
  char number[32];
  char line[512];
  while (std::fgets(line, sizeof line, told) != nullptr) {
    if (std::sscanf(line, "link %63s lqpn %31s", link, number) != 2) continue;
    found.insert(std::string(link) + " " + number);
  }
  BOOST_TEST(pclose(told) == 0);
  BOOST_TEST(!found.empty());
  return found;
}

/// Whether there are some now that were not there before.
inline bool has_new_queue_pairs(const std::set<std::string>& before) {
  const std::set<std::string> now = queue_pairs();
  return !std::includes(before.begin(), before.end(), now.begin(), now.end());
}

}  // namespace corail::test
