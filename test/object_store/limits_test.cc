#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/store/open_put.h"
#include "test/object_store/content.h"
#include "test/object_store/disk_machine.h"

namespace corail::test {
namespace {

/// A store on a simulated disk with limits of its own.
struct LimitedMachine : OnSimulatedDisk, StoreRig {
  Result<RecoveryReport> boot(ObjectStoreOptions with) {
    return start(medium(executor()), std::move(with));
  }
};

BOOST_AUTO_TEST_SUITE(limits)

BOOST_AUTO_TEST_CASE(open_puts_have_a_budget_of_bytes) {
  LimitedMachine machine;
  ObjectStoreOptions options = StoreRig::options();
  options.max_open_put_bytes = 2 * kSize;
  BOOST_REQUIRE(machine.boot(options).ok());
  const auto begin = [&](std::uint64_t size) {
    return machine.run(machine.store().begin_put(StoreRig::request("k", size)));
  };
  const auto first = begin(kSize);
  const auto second = begin(kSize);
  BOOST_REQUIRE((first.ok() && second.ok()));
  const auto third = begin(1);
  BOOST_TEST((code_of(third) == Errc::kQuotaExceeded));
  BOOST_TEST(says(third.error(), "raise max_open_put_bytes"), text_of(third));
  // Both ways of ending one give its bytes back.
  BOOST_TEST(machine.run(machine.store().abort_put(*first)).ok());
  BOOST_TEST((code_of(begin(kSize + 1)) == Errc::kQuotaExceeded));
  const PutRequest request = StoreRig::request("k", kSize);
  BOOST_REQUIRE(machine.write_all(*second, request, content_of(2, kSize)).ok());
  BOOST_TEST(machine.run(machine.store().commit_put(*second)).ok());
  BOOST_TEST(begin(2 * kSize).ok());
}

BOOST_AUTO_TEST_CASE(manifests_have_a_budget_of_memory) {
  LimitedMachine machine;
  ObjectStoreOptions options = StoreRig::options();
  options.max_manifest_bytes = 2 * detail::memory_of(kSize, 2 * kGranuleBytes);
  BOOST_REQUIRE(machine.boot(options).ok());
  BOOST_TEST(machine.put("a", 1, kSize).ok());
  BOOST_TEST(machine.put("b", 2, kSize).ok());
  const auto third = machine.put("c", 3, kSize);
  BOOST_TEST((code_of(third) == Errc::kQuotaExceeded));
  BOOST_TEST(says(third.error(), "raise max_manifest_bytes"), text_of(third));
  // Also what a start found counts, and what only a lease keeps.
  BOOST_REQUIRE(machine.boot(options).ok());
  BOOST_TEST((code_of(machine.put("c", 3, kSize)) == Errc::kQuotaExceeded));
  const auto lease = machine.lease("b");
  BOOST_TEST(machine.run(machine.store().erase("b", std::nullopt)).ok());
  BOOST_TEST((code_of(machine.put("c", 3, kSize)) == Errc::kQuotaExceeded));
  machine.store().release(*lease);
  BOOST_TEST(machine.put("c", 3, kSize).ok());
  BOOST_TEST(machine.run(machine.store().erase("c", std::nullopt)).ok());
  // A put over an object needs room for both, and leaves one.
  for (std::uint64_t round = 0; round < 5; ++round) {
    BOOST_TEST(machine.put("a", round, kSize).ok());
  }
}

// Whoever read its descriptors and manifests would refuse them.
BOOST_AUTO_TEST_CASE(a_store_needs_a_node_that_readers_accept) {
  LimitedMachine machine;
  for (const auto& addresses : std::vector<std::vector<std::string>>{
           {}, {""}, {std::string(257, 'a')}, std::vector<std::string>(17, "h:1")}) {
    ObjectStoreOptions options = StoreRig::options();
    options.self.addresses = addresses;
    const auto started = machine.boot(options);
    BOOST_TEST((code_of(started) == Errc::kInvalidArgument), text_of(started));
  }
  BOOST_TEST(machine.disk().names("/disk0").empty());
}

// The store's executor answers everybody: what computes for long does so elsewhere.
BOOST_AUTO_TEST_CASE(hashes_are_computed_by_the_workers) {
  LimitedMachine machine;
  asio::io_context workers(1);
  ObjectStoreOptions options = StoreRig::options();
  options.workers = workers.get_executor();
  BOOST_REQUIRE(machine.boot(options).ok());
  // Runs what the store has, then the workers, in turns; returns how often the workers had a turn.
  const auto turns = [&](const auto& outcome) {
    std::size_t count = 0;
    for (machine.settle_but_held(); !outcome->has_value(); machine.settle_but_held()) {
      workers.restart();
      BOOST_REQUIRE(workers.poll() > 0U);
      ++count;
    }
    return count;
  };
  const PutRequest request = StoreRig::request("k", kGranuleBytes);
  const auto content = content_of(1, kGranuleBytes);
  const auto put = machine.run(machine.store().begin_put(request));
  const auto write = machine.begin(machine.store().write(*put, 0, 0, content));
  BOOST_TEST(turns(write) > 0U);
  BOOST_TEST((*write)->ok());
  const auto commit = machine.begin(machine.store().commit_put(*put));
  BOOST_TEST(turns(commit) > 0U);
  BOOST_TEST((*commit)->ok());
  const auto lease = machine.lease("k");
  std::vector<std::byte> into(kGranuleBytes);
  const auto read = machine.begin(machine.store().read(*lease, 0, 0, into, ReadCheck::kVerify));
  BOOST_TEST(turns(read) > 0U);
  BOOST_TEST((*read)->ok());
  BOOST_TEST((into == content));
  // What is not verified is not hashed.
  const auto plain = machine.begin(machine.store().read(*lease, 0, 0, into, ReadCheck::kNone));
  BOOST_TEST(turns(plain) == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
