#include "engine/memory/slab_pool.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/base/random.h"

namespace corail {
namespace {

SlabPoolOptions small_pool(std::uint64_t slabs) {
  SlabPoolOptions options;
  options.slab_bytes = kMiB;
  options.capacity_bytes = slabs * kMiB;
  options.numa_nodes = {0, 1};  // the second one need not exist: then it is a label
  return options;
}

bool holds_only(std::span<const std::byte> bytes, std::byte value) {
  for (const std::byte byte : bytes) {
    if (byte != value) return false;
  }
  return true;
}

BOOST_AUTO_TEST_SUITE(slab_pool)

BOOST_AUTO_TEST_CASE(slabs_are_mapped_when_needed_and_stay_warm) {
  SlabPool pool(small_pool(4));
  BOOST_TEST(pool.mapped_bytes() == 0U);
  auto first = pool.allocate(600 * kKiB, 0);
  BOOST_REQUIRE(first);
  BOOST_TEST(first->bytes().size() == 600 * kKiB);
  BOOST_TEST(first->numa_node() == 0);
  BOOST_TEST(pool.mapped_bytes() == kMiB);
  const std::byte* data = first->bytes().data();
  first = SlabChunk();
  BOOST_TEST(pool.outstanding_bytes() == 0U);
  BOOST_TEST(pool.mapped_bytes() == kMiB);
  auto again = pool.allocate(600 * kKiB, 0);
  BOOST_REQUIRE(again);
  BOOST_TEST((again->bytes().data() == data));
}

BOOST_AUTO_TEST_CASE(who_has_no_time_to_map_gets_what_is_mapped) {
  SlabPool pool(small_pool(4));
  BOOST_TEST(!pool.allocate_mapped(4 * kKiB, 0).has_value());
  BOOST_TEST(pool.mapped_bytes() == 0U);
  const auto first = pool.allocate(600 * kKiB, 0);
  BOOST_REQUIRE(first);
  const auto second = pool.allocate_mapped(400 * kKiB, 0);
  BOOST_REQUIRE(second.has_value());
  BOOST_TEST(second->bytes().size() == 400 * kKiB);
  BOOST_TEST(pool.outstanding_bytes() == 1000 * kKiB);
  // There is no room left, and no chunk of nothing or of more than a slab.
  BOOST_TEST(!pool.allocate_mapped(600 * kKiB, 0).has_value());
  BOOST_TEST(!pool.allocate_mapped(0, 0).has_value());
  BOOST_TEST(!pool.allocate_mapped(2 * kMiB, 0).has_value());
  BOOST_TEST(pool.mapped_bytes() == kMiB);
}

BOOST_AUTO_TEST_CASE(nodes_have_slabs_of_their_own) {
  SlabPool pool(small_pool(4));
  auto near = pool.allocate(kKiB, 0);
  auto far = pool.allocate(kKiB, 1);
  BOOST_REQUIRE((near && far));
  BOOST_TEST(far->numa_node() == 1);
  BOOST_TEST(pool.mapped_bytes() == 2 * kMiB);
  BOOST_TEST(pool.describe().size() == 2U);
}

/// A node is named by a remote side: it must not decide how much gets mapped (I5).
BOOST_AUTO_TEST_CASE(nodes_that_do_not_exist_share_their_slabs) {
  SlabPool pool(small_pool(2));
  std::vector<SlabChunk> held;
  for (std::int32_t node = 2; node < 200; ++node) {
    auto chunk = pool.allocate(4 * kKiB, node);
    BOOST_REQUIRE(chunk);
    BOOST_TEST(chunk->numa_node() == node);
    held.push_back(*chunk);
  }
  BOOST_TEST(pool.mapped_bytes() == kMiB);
  BOOST_TEST(pool.allocate(kMiB, 0).ok());
}

BOOST_AUTO_TEST_CASE(empty_slabs_make_room_for_another_node) {
  SlabPool pool(small_pool(2));
  auto kept = pool.allocate(4 * kKiB, 0);
  BOOST_TEST(pool.allocate(kMiB, 0).ok());
  BOOST_TEST(pool.mapped_bytes() == 2 * kMiB);
  std::memset(kept->bytes().data(), 3, kept->bytes().size());
  auto other = pool.allocate(kMiB, 1);
  BOOST_REQUIRE(other);
  BOOST_TEST(pool.mapped_bytes() == 2 * kMiB);
  BOOST_TEST(holds_only(kept->bytes(), std::byte{3}));
  BOOST_TEST(!pool.allocate(kMiB, 0).ok());
}

BOOST_AUTO_TEST_CASE(a_full_pool_refuses_with_a_reason_and_recovers) {
  SlabPool pool(small_pool(2));
  std::vector<SlabChunk> held;
  for (int i = 0; i < 2; ++i) {
    auto chunk = pool.allocate(kMiB, 0);
    BOOST_REQUIRE(chunk);
    held.push_back(*chunk);
  }
  const auto refused = pool.allocate(1, 0);
  BOOST_REQUIRE(!refused);
  BOOST_TEST((refused.error().code() == Errc::kOutOfMemory));
  BOOST_TEST((refused.error().error_class() == ErrorClass::kBackPressure));
  held.pop_back();
  BOOST_TEST(pool.allocate(kMiB, 0).ok());
  BOOST_TEST((pool.allocate(0, 0).error().code() == Errc::kInvalidArgument));
  BOOST_TEST((pool.allocate(kMiB + 1, 0).error().code() == Errc::kTooLarge));
  BOOST_TEST((pool.allocate(~0ULL, 0).error().code() == Errc::kTooLarge));
}

BOOST_AUTO_TEST_CASE(the_last_slab_is_what_the_capacity_leaves) {
  SlabPoolOptions options = small_pool(1);
  options.capacity_bytes = kMiB + 64 * kKiB;
  SlabPool pool(options);
  auto whole = pool.allocate(kMiB, 0);
  auto rest = pool.allocate(64 * kKiB, 0);
  BOOST_TEST((whole.ok() && rest.ok()));
  BOOST_TEST(pool.mapped_bytes() == options.capacity_bytes);
  BOOST_TEST(!pool.allocate(1, 0).ok());
}

BOOST_AUTO_TEST_CASE(bytes_are_reused_only_after_the_last_copy_and_pin) {
  SlabPool pool(small_pool(1));
  auto chunk = pool.allocate(kMiB, 0);
  BOOST_REQUIRE(chunk);
  SlabChunk copy = *chunk;
  Pin pin = copy.pin();
  chunk = SlabChunk();
  BOOST_TEST(!pool.allocate(1, 0).ok());
  copy.reset();
  BOOST_TEST(!pool.allocate(1, 0).ok());
  BOOST_TEST(pool.outstanding_bytes() == kMiB);
  Pin other = pin;
  pin.reset();
  BOOST_TEST(!pool.allocate(1, 0).ok());
  other.reset();
  BOOST_TEST(pool.allocate(kMiB, 0).ok());
}

BOOST_AUTO_TEST_CASE(chunks_outlive_the_pool) {
  SlabChunk chunk;
  {
    SlabPool pool(small_pool(1));
    auto made = pool.allocate(kMiB, 0);
    BOOST_REQUIRE(made);
    chunk = *made;
  }
  std::memset(chunk.bytes().data(), 7, chunk.bytes().size());
  BOOST_TEST(holds_only(chunk.bytes(), std::byte{7}));
}

BOOST_AUTO_TEST_CASE(quarantined_bytes_are_never_reused_or_unmapped) {
  std::span<std::byte> bytes;
  {
    SlabPool pool(small_pool(1));
    auto chunk = pool.allocate(512 * kKiB, 0);
    BOOST_REQUIRE(chunk);
    bytes = chunk->bytes();
    chunk->quarantine();
    chunk->quarantine();  // of the same chunk, counted once
    chunk = SlabChunk();
    BOOST_TEST(pool.quarantined_chunks() == 1U);
    BOOST_TEST(pool.quarantined_bytes() == 512 * kKiB);
    BOOST_TEST(pool.outstanding_bytes() == 512 * kKiB);
    BOOST_TEST(!pool.allocate(kMiB, 0).ok());
    auto rest = pool.allocate(512 * kKiB, 0);
    BOOST_REQUIRE(rest);
    BOOST_TEST((rest->bytes().data() != bytes.data()));
  }
  // Still mapped: a late write hits nobody.
  std::memset(bytes.data(), 1, bytes.size());
  BOOST_TEST(holds_only(bytes, std::byte{1}));
}

/// Each thread fills what it gets with its own value and later looks whether it still is; half of
/// the chunks travel to the other thread and die there.
BOOST_AUTO_TEST_CASE(threads_never_share_bytes) {
  constexpr int kThreads = 3;
  constexpr int kRounds = 150;
  SlabPool pool(small_pool(2));
  std::mutex mutex;
  std::vector<SlabChunk> passed_on;
  std::atomic<int> broken{0};
  std::atomic<int> allocated{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      SeededRandom random(static_cast<std::uint64_t>(t));
      std::deque<SlabChunk> held;
      const auto value = static_cast<std::byte>(t + 1);
      for (int round = 0; round < kRounds; ++round) {
        auto chunk =
            pool.allocate(1 + random.below(60 * kKiB), static_cast<std::int32_t>(random.below(2)));
        if (chunk) {
          ++allocated;
          std::memset(chunk->bytes().data(), t + 1, chunk->bytes().size());
          held.push_back(*chunk);
        }
        if (held.size() > 12 || (!chunk && !held.empty())) {
          if (!holds_only(held.front().bytes(), value)) ++broken;
          const std::lock_guard lock(mutex);
          if (random.below(2) == 0) passed_on.push_back(held.front());
          if (passed_on.size() > 8) passed_on.clear();
          held.pop_front();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  passed_on.clear();
  BOOST_TEST(broken == 0);
  BOOST_TEST(allocated > 2 * kRounds);
  BOOST_TEST(pool.outstanding_bytes() == 0U);
  BOOST_TEST(pool.mapped_bytes() <= 2 * kMiB);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
