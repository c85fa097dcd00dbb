#include "engine/memory/slab.h"

#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <string>

#include "engine/base/units.h"

namespace corail {
namespace {

SlabOptions options(std::uint64_t bytes) {
  SlabOptions made;
  made.bytes = bytes;
  return made;
}

bool says(const Slab& slab, std::string_view word) {
  return slab.describe().find(word) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(slab)

BOOST_AUTO_TEST_CASE(anonymous_memory_is_zero_and_writable_to_its_end) {
  auto slab = Slab::create(options(3 * kMiB + 5));
  BOOST_REQUIRE(slab);
  BOOST_TEST((*slab)->bytes() >= 3 * kMiB + 5);
  BOOST_TEST((*slab)->memfd() == -1);
  BOOST_TEST(((*slab)->data()[(*slab)->bytes() - 1] == std::byte{0}));
  std::memset((*slab)->data(), 0x5A, (*slab)->bytes());
  BOOST_TEST(says(**slab, "anonymous"));
  BOOST_TEST(!(*slab)->huge());
}

BOOST_AUTO_TEST_CASE(a_memfd_shows_the_same_bytes_through_another_mapping) {
  SlabOptions wanted = options(kMiB);
  wanted.backing = SlabBacking::kMemfd;
  auto slab = Slab::create(wanted);
  BOOST_REQUIRE(slab);
  BOOST_REQUIRE((*slab)->memfd() >= 0);
  BOOST_TEST(says(**slab, "memfd"));
  (*slab)->data()[777] = std::byte{42};
  void* other = ::mmap(nullptr, kMiB, PROT_READ, MAP_SHARED, (*slab)->memfd(), 0);
  BOOST_REQUIRE((other != MAP_FAILED));
  BOOST_TEST((static_cast<const std::byte*>(other)[777] == std::byte{42}));
  ::munmap(other, kMiB);
}

BOOST_AUTO_TEST_CASE(huge_pages_are_used_or_their_absence_is_said) {
  for (const SlabBacking backing : {SlabBacking::kAnonymous, SlabBacking::kMemfd}) {
    SlabOptions wanted = options(kMiB);
    wanted.backing = backing;
    wanted.huge_pages = true;
    auto slab = Slab::create(wanted);
    BOOST_REQUIRE(slab);
    BOOST_TEST((*slab)->bytes() == 2 * kMiB);
    BOOST_TEST(((*slab)->huge() || says(**slab, "not enough")));
    std::memset((*slab)->data(), 1, (*slab)->bytes());
  }
}

BOOST_AUTO_TEST_CASE(a_numa_node_that_does_not_exist_is_a_label) {
  for (const std::int32_t node : {-2, 60, 100'000}) {
    SlabOptions wanted = options(kMiB);
    wanted.numa_node = node;
    auto slab = Slab::create(wanted);
    BOOST_REQUIRE(slab);
    BOOST_TEST(!(*slab)->numa_bound());
    BOOST_TEST((*slab)->numa_node() == node);
    BOOST_TEST(says(**slab, "label"));
    std::memset((*slab)->data(), 1, (*slab)->bytes());
  }
}

BOOST_AUTO_TEST_CASE(any_node_is_neither_bound_nor_missed) {
  SlabOptions wanted = options(kMiB);
  wanted.numa_node = kAnyNumaNode;
  auto slab = Slab::create(wanted);
  BOOST_REQUIRE(slab);
  BOOST_TEST(!(*slab)->numa_bound());
  BOOST_TEST(!says(**slab, "label"));
}

BOOST_AUTO_TEST_CASE(binding_and_label_agree) {
  auto slab = Slab::create(options(kMiB));
  BOOST_REQUIRE(slab);
  BOOST_TEST((*slab)->numa_bound() != says(**slab, "label"));
}

BOOST_AUTO_TEST_CASE(sizes_that_cannot_be_are_errors) {
  BOOST_TEST((Slab::create(options(0)).error().code() == Errc::kInvalidArgument));
  BOOST_TEST((Slab::create(options(~0ULL)).error().code() == Errc::kInvalidArgument));
  const auto refused = Slab::create(options(std::uint64_t{1} << 60));
  BOOST_TEST((refused.error().code() == Errc::kOutOfMemory));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
