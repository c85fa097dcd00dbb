#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <optional>
#include <tuple>

#include "test/object_store/content.h"
#include "test/object_store/on_local_disk.h"
#include "test/object_store/store_rig.h"

namespace corail::test {
namespace {

using Kinds = std::tuple<ByThreads, ByUring>;

constexpr std::uint64_t kSize = 11 * kGranuleBytes + 77;  // six stripes on two devices

/// The store goes first, then what reaches its disks, then the context that both run on.
template <typename Kind>
struct Machine : StoreRig, Kind {
  Machine() { restart(); }
  ~Machine() { this->stop(); }

  RecoveryReport restart() {
    this->stop();  // another store may not open what this one has
    const auto report = this->start(this->medium(this->executor()));
    BOOST_REQUIRE_MESSAGE(report.ok(), text_of(report));
    return *report;
  }
  bool holds(const std::string& key, std::uint64_t seed, std::uint64_t size) {
    const auto found = this->get(key);
    return found.ok() && is_content(*found, seed, size);
  }
};

BOOST_AUTO_TEST_SUITE(local_store)

BOOST_AUTO_TEST_CASE_TEMPLATE(objects_on_this_machines_disks, Kind, Kinds) {
  Machine<Kind> machine;
  BOOST_TEST_MESSAGE("by " << machine.access().describe());
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{1}, kSize, 8 * kGranuleBytes}) {
    const std::string key = std::to_string(size);
    BOOST_TEST(machine.put(key, size, size).ok());
    BOOST_TEST(machine.holds(key, size, size));
  }
  BOOST_TEST(machine.restart().objects == 4U);
  BOOST_TEST(machine.holds(std::to_string(kSize), kSize, kSize));
  const auto before = machine.store().lookup("1");
  const auto after = machine.put("1", 5, kSize);
  BOOST_TEST(((*before)->object.generation < *after));
  BOOST_TEST(machine.holds("1", 5, kSize));
  for (const ObjectSummary& object : machine.store().list("", "", 9)) {
    BOOST_TEST(machine.run(machine.store().erase(object.key, std::nullopt)).ok());
  }
  machine.settle();
  BOOST_TEST(machine.nothing_left());
  BOOST_TEST((*after < *machine.put("1", 6, 1)));
}

// Closed in the middle of a put, as by a node that ends: what was written is debris, and goes.
BOOST_AUTO_TEST_CASE_TEMPLATE(an_open_put_leaves_nothing, Kind, Kinds) {
  Machine<Kind> machine;
  const PutRequest request = StoreRig::request("k", kSize);
  const auto put = machine.run(machine.store().begin_put(request));
  BOOST_REQUIRE(machine.write_all(*put, request, content_of(1, kSize)).ok());
  BOOST_TEST(!machine.nothing_left());
  machine.stop();
  BOOST_TEST(machine.nothing_left());
  BOOST_TEST(machine.restart().objects == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
