#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/units.h"
#include "engine/store/store_names.h"
#include "test/object_store/disk_machine.h"

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(directory_store)

BOOST_AUTO_TEST_CASE(stripes_lie_round_robin_and_a_restart_finds_them) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  BOOST_REQUIRE(machine.put("empty", 1, 0).ok());
  BOOST_REQUIRE(machine.put("one", 4, 1).ok());
  const auto before = machine.store().lookup("k");
  const std::string stripes = detail::stripes_name((*before)->object.generation);
  BOOST_TEST(machine.disk().content("/disk0", stripes)->size() == 3 * kGranuleBytes + 9);
  BOOST_TEST(machine.disk().content("/disk1", stripes)->size() == 2 * kGranuleBytes);
  BOOST_TEST(machine.disk().content("/disk2", stripes)->size() == 2 * kGranuleBytes);
  const RecoveryReport report = machine.restart();
  BOOST_TEST(report.objects == 3U);
  BOOST_TEST(report.removed_files == 0U);
  BOOST_TEST((**machine.store().lookup("k") == **before));
  BOOST_TEST(machine.holds("k", 1));
  BOOST_TEST(machine.holds("empty", 1, 0));
  BOOST_TEST(machine.holds("one", 4, 1));
}

BOOST_AUTO_TEST_CASE(corrupt_stripe_is_found_by_its_granules_checksum) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  const auto info = machine.store().lookup("k");
  const std::string stripes = detail::stripes_name((*info)->object.generation);
  // The second granule of stripe 3, which is the second of the first device.
  (*machine.disk().content("/disk0", stripes))[3 * kGranuleBytes + 4] ^= std::byte{1};
  const auto lease = machine.lease("k");
  const auto read = machine.read_all(*lease, **info);
  BOOST_TEST((code_of(read) == Errc::kChecksumMismatch));
  BOOST_TEST(says(read.error(), "granule 1 of stripe 3 of 'k'"), read.error().to_string());
  BOOST_TEST(says(read.error(), "/disk0/"), read.error().to_string());
  // The granules beside it are sound, and whoever verifies by himself gets all bytes.
  std::vector<std::byte> granule(kGranuleBytes);
  BOOST_TEST(machine.run(machine.store().read(*lease, 3, 0, granule, ReadCheck::kVerify)).ok());
  std::vector<std::byte> rest(9);
  BOOST_TEST(
      machine.run(machine.store().read(*lease, 3, kGranuleBytes, rest, ReadCheck::kNone)).ok());
}

BOOST_AUTO_TEST_CASE(stripes_of_somebody_else_are_neither_emptied_nor_removed) {
  DiskMachine machine;
  const auto directory = machine.disk().directory("/disk1");
  const std::string taken = detail::stripes_name(ObjectGeneration(1));
  BOOST_REQUIRE(machine.run(directory->create(taken)).ok());
  machine.disk().content("/disk1", taken)->resize(5);
  const auto put = machine.put("k", 1, kSize);
  BOOST_TEST((code_of(put) == Errc::kStoreFailed));
  BOOST_TEST(says(put.error(), "already"), text_of(put));
  BOOST_TEST((machine.files() == std::vector<std::string>{"/disk1/" + taken}),
             joined(machine.files()));
  BOOST_TEST(machine.put("k", 2, kSize).ok());
}

// The first directory was mistyped: the others' heads must not be overwritten by a new store's.
BOOST_AUTO_TEST_CASE(an_empty_first_directory_makes_no_new_store_over_an_old_one) {
  DiskMachine machine;  // nothing was ever put: the heads are all there is
  machine.stop();
  ProtobufManifestCodec codec;
  SeededRandom random(2);
  DiskDirectories directories;
  for (const char* path : {"/typo", "/disk1", "/disk2"}) {
    directories.push_back(machine.disk().directory(path));
  }
  const auto refused =
      machine.start(std::make_unique<DirectoryMedium>(std::move(directories), codec, random));
  BOOST_TEST((code_of(refused) == Errc::kStoreFailed), text_of(refused));
  BOOST_TEST(says(refused.error(), "/typo does not say"), text_of(refused));
  machine.restart();
  BOOST_TEST(machine.put("k", 1, kSize).ok());
}

BOOST_AUTO_TEST_CASE(directories_of_another_store_or_order_are_refused) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  machine.stop();
  ProtobufManifestCodec codec;
  SeededRandom random(2);
  const auto start = [&](std::vector<std::string> paths) {
    DiskDirectories directories;
    for (const std::string& path : paths) directories.push_back(machine.disk().directory(path));
    return machine.start(std::make_unique<DirectoryMedium>(std::move(directories), codec, random));
  };
  for (const auto& paths :
       std::vector<std::vector<std::string>>{{"/disk0", "/disk2", "/disk1"},
                                             {"/disk1", "/disk0", "/disk2"},
                                             {"/disk0", "/disk1"},
                                             {"/disk0", "/disk1", "/disk2", "/empty"},
                                             {"/empty", "/disk1", "/disk2"},
                                             {"/disk0", "/disk1", "/empty"}}) {
    const auto refused = start(paths);
    BOOST_TEST((code_of(refused) == Errc::kStoreFailed), text_of(refused));
  }
  BOOST_TEST(machine.restart().objects == 1U);
  BOOST_TEST(machine.holds("k", 1));
}

BOOST_AUTO_TEST_CASE(strangers_files_stay) {
  DiskMachine machine;
  const auto directory = machine.disk().directory("/disk1");
  for (const char* name : {"notes.tmp", "0000000000000001", "a.stripes", "x-0.manifest"}) {
    BOOST_REQUIRE(machine.run(directory->create(name)).ok());
  }
  BOOST_TEST(machine.restart().removed_files == 0U);
  BOOST_TEST(machine.files().size() == kFiles);
}

BOOST_AUTO_TEST_CASE(names_say_what_a_file_is) {
  BOOST_TEST(detail::is_manifest(detail::manifest_name("k", 12)));
  BOOST_TEST(detail::is_manifest_of(detail::manifest_name("k", 12), "k"));
  BOOST_TEST(!detail::is_manifest_of(detail::manifest_name("k", 12), "j"));
  BOOST_TEST(detail::is_temporary(detail::temporary_name(detail::manifest_name("k", 0))));
  BOOST_TEST(!detail::is_manifest(detail::temporary_name(detail::manifest_name("k", 0))));
  const auto generation = detail::generation_of(detail::stripes_name(ObjectGeneration(0xAB12)));
  BOOST_TEST((generation && *generation == ObjectGeneration(0xAB12)));
  const std::string bad = detail::bad_name(detail::manifest_name("k", 12), 0x401);
  BOOST_TEST((detail::bound_of_bad(bad) == 0x401U));
  BOOST_TEST((!detail::is_manifest(bad) && !detail::is_temporary(bad)));
  for (const char* name : {"", ".bad", "x-0000000000000401.bad", "notes.bad"}) {
    BOOST_TEST(!detail::bound_of_bad(name));
  }
  for (const char* name : {"", "store", "000000000000ab1.stripes", "000000000000AB12.stripes",
                           "-00000000000ab12.stripes", "000000000000ab12.manifest"}) {
    BOOST_TEST(!detail::generation_of(name));
    BOOST_TEST(!detail::is_manifest(name));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
