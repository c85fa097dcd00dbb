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

BOOST_AUTO_TEST_SUITE(bad_manifests)

BOOST_AUTO_TEST_CASE(lost_stripes_are_told_and_nothing_is_removed) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  BOOST_REQUIRE(machine.put("sound", 2, kSize).ok());
  const auto info = machine.store().lookup("k");
  const std::string stripes = detail::stripes_name((*info)->object.generation);
  machine.disk().content("/disk1", stripes)->resize(5);
  BOOST_TEST((code_of(machine.get("k")) == Errc::kStripeLost));
  const RecoveryReport report = machine.restart();
  BOOST_TEST(report.objects == 1U);
  BOOST_REQUIRE(report.refused.size() == 1U);
  BOOST_TEST((report.refused[0].code() == Errc::kStripeLost));
  BOOST_TEST(says(report.refused[0], "has 5 of the 524288 bytes of object 'k'"),
             report.refused[0].to_string());
  BOOST_TEST(machine.files().size() == 2 * kFiles);
  BOOST_TEST(machine.holds("sound", 2));
}

BOOST_AUTO_TEST_CASE(a_corrupt_manifest_is_told_and_nothing_is_removed) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  const std::string name = machine.file_with(".manifest");
  std::vector<std::byte>& manifest = *machine.disk().content("/disk0", name);
  manifest[manifest.size() / 2] ^= std::byte{4};
  RecoveryReport report = machine.restart();
  BOOST_REQUIRE(report.refused.size() == 1U);
  BOOST_TEST((report.refused[0].code() == Errc::kBadManifest));
  BOOST_TEST(says(report.refused[0], "/disk0/" + name), report.refused[0].to_string());
  BOOST_TEST(machine.files().size() == kFiles);
  // It was set aside, and takes part in nothing: not in the next put of the key, nor in its delete.
  BOOST_TEST(machine.put("k", 2, kSize).ok());
  BOOST_TEST(machine.file_with(".manifest") == name);
  report = machine.restart();
  BOOST_REQUIRE(report.refused.size() == 1U);
  BOOST_TEST(says(report.refused[0], ".bad: an earlier start"), report.refused[0].to_string());
  BOOST_TEST(machine.holds("k", 2));
  BOOST_TEST(machine.run(machine.store().erase("k", std::nullopt)).ok());
  machine.restart();
  BOOST_TEST((code_of(machine.get("k")) == Errc::kNotFound));
  BOOST_TEST(machine.files().size() == kFiles, joined(machine.files()));
  // Whoever mends it gets the object back, because its stripes were kept.
  const std::string bad = machine.file_with(".bad");
  (*machine.disk().content("/disk0", bad))[manifest.size() / 2] ^= std::byte{4};
  BOOST_REQUIRE(machine.run(machine.disk().directory("/disk0")->rename(bad, name)).ok());
  BOOST_TEST(machine.restart().refused.empty());
  BOOST_TEST(machine.holds("k", 1));
}

// Only what is older than the bad manifest may be its own.
BOOST_AUTO_TEST_CASE(debris_is_removed_beside_a_corrupt_manifest) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  (*machine.disk().content("/disk0", machine.file_with(".manifest")))[9] ^= std::byte{4};
  machine.restart();
  const PutRequest request = StoreRig::request("other", kSize);
  const auto put = machine.run(machine.store().begin_put(request));
  BOOST_REQUIRE(machine.write_all(*put, request, content_of(2, kSize)).ok());
  machine.disk().crash_at(machine.disk().calls() + 1);
  machine.stop();
  machine.disk().restart(CrashLoss::kNone);
  BOOST_TEST(machine.files().size() == kFiles + 3, joined(machine.files()));
  BOOST_TEST(machine.restart().removed_files == 3U);
  BOOST_TEST(machine.files().size() == kFiles, joined(machine.files()));
}

// A manifest that the disk does not give is not one that is not there.
BOOST_AUTO_TEST_CASE(a_start_that_cannot_read_a_manifest_fails_and_changes_nothing) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  machine.stop();
  const auto before = machine.files();
  std::size_t failed = 0;
  bool more = true;
  for (std::uint64_t call = 1; more; ++call) {
    const std::uint64_t at = machine.disk().calls() + call;
    machine.disk().fail_at(at);
    const auto report = machine.start(machine.medium(machine.executor()));
    more = machine.disk().calls() >= at;
    machine.disk().fail_at(0);
    if (!report) {
      ++failed;
      BOOST_TEST((report.error().code() == Errc::kStoreFailed), text_of(report));
    } else {
      BOOST_TEST(machine.holds("k", 1));
    }
    machine.stop();
    BOOST_TEST((machine.files() == before), "call " << call << ": " << joined(machine.files()));
  }
  BOOST_TEST(failed > 8U);
  BOOST_TEST(machine.restart().objects == 1U);
}

BOOST_AUTO_TEST_CASE(a_lost_object_is_there_until_it_is_put_again_or_deleted) {
  for (const bool put_again : {true, false}) {
    DiskMachine machine;
    BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
    const ObjectGeneration generation = (*machine.store().lookup("k"))->object.generation;
    machine.disk().content("/disk1", detail::stripes_name(generation))->resize(5);
    machine.restart();
    BOOST_TEST((code_of(machine.store().lookup("k")) == Errc::kStripeLost));
    BOOST_TEST((code_of(machine.lease("k")) == Errc::kStripeLost));
    BOOST_TEST(machine.store().list("", "", 9).empty());
    BOOST_TEST(machine.store().stats().objects == 0U);
    PutRequest request = StoreRig::request("k", kSize);
    request.if_generation = ObjectGeneration(0);
    BOOST_TEST((code_of(machine.put(request, 2)) == Errc::kGenerationChanged));
    if (put_again) {
      request.if_generation = generation;
      BOOST_TEST(machine.put(request, 2).ok());
      BOOST_TEST(machine.holds("k", 2));
    } else {
      const auto erased = machine.run(machine.store().erase("k", std::nullopt));
      BOOST_TEST((erased.ok() && *erased == generation), text_of(erased));
      machine.settle();
    }
    BOOST_TEST(machine.files().size() == (put_again ? kFiles : 0), joined(machine.files()));
    BOOST_TEST(machine.restart().objects == (put_again ? 1U : 0U));
  }
}

// As a copy by hand leaves it, or a rename whose removal was lost.
BOOST_AUTO_TEST_CASE(a_manifest_that_is_there_twice_costs_no_stripes) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  const std::string name = machine.file_with(".manifest");
  const auto directory = machine.disk().directory("/disk0");
  BOOST_REQUIRE(machine.run(directory->create(detail::manifest_name("k", 7))).ok());
  *machine.disk().content("/disk0", detail::manifest_name("k", 7)) =
      *machine.disk().content("/disk0", name);
  const RecoveryReport report = machine.restart();
  BOOST_TEST((report.refused.empty() && report.objects == 1U));
  BOOST_TEST(report.removed_files == 1U);
  BOOST_TEST(machine.holds("k", 1));
  BOOST_TEST(machine.run(machine.store().erase("k", std::nullopt)).ok());
  machine.settle();
  BOOST_TEST(machine.restart().objects == 0U);
}

// Of two manifests that claim one generation at most one is right, and nobody knows which.
BOOST_AUTO_TEST_CASE(manifests_that_claim_one_generation_are_set_aside_with_its_stripes) {
  ProtobufManifestCodec codec;
  for (const std::string other : {"k", "other"}) {
    DiskMachine machine;
    BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
    StripingInfo info = **machine.store().lookup("k");
    info.object.key = other;
    info.object.nodes[0].addresses = {"elsewhere:1"};
    const std::string name = detail::manifest_name(other, 3);
    BOOST_REQUIRE(machine.run(machine.disk().directory("/disk0")->create(name)).ok());
    *machine.disk().content("/disk0", name) = codec.encode(info);
    const RecoveryReport report = machine.restart();
    BOOST_TEST(report.objects == 0U);
    BOOST_REQUIRE(report.refused.size() == 2U);
    BOOST_TEST((report.refused[0].code() == Errc::kBadManifest));
    BOOST_TEST(says(report.refused[0], "it says that generation"), report.refused[0].to_string());
    BOOST_TEST(machine.files().size() == kFiles + 1, joined(machine.files()));
  }
}

// I5: a number that ends all counting.
BOOST_AUTO_TEST_CASE(generations_beyond_the_last_are_refused) {
  ProtobufManifestCodec codec;
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  StripingInfo info = **machine.store().lookup("k");
  info.object.generation = ObjectGeneration(~std::uint64_t{0} - 1);
  *machine.disk().content("/disk0", machine.file_with(".manifest")) = codec.encode(info);
  const RecoveryReport report = machine.restart();
  BOOST_REQUIRE(report.refused.size() == 1U);
  BOOST_TEST((report.refused[0].code() == Errc::kBadManifest));
  const auto next = machine.put("k", 2, kSize);
  BOOST_TEST((next.ok() && next->value() < 4096), text_of(next));
  // And in the head.
  std::vector<std::byte>& head = *machine.disk().content("/disk0", "store");
  StoreHead written = *codec.decode_head(head);
  written.unused_generation = kMaxObjectGeneration + 1;
  head = codec.encode_head(written);
  BOOST_TEST((code_of(machine.start(machine.medium(machine.executor()))) == Errc::kBadManifest));
  written.unused_generation = kMaxObjectGeneration - 5;
  *machine.disk().content("/disk0", "store") = codec.encode_head(written);
  machine.restart();
  const auto last = machine.put("k", 3, kSize);
  BOOST_TEST((code_of(last) == Errc::kStoreFailed));
  BOOST_TEST(says(last.error(), "one of the last ones"), text_of(last));
  BOOST_TEST(machine.holds("k", 2));
}

BOOST_AUTO_TEST_CASE(a_manifest_under_a_strange_name_is_refused) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, 1).ok());
  BOOST_REQUIRE(machine.put("other", 2, 1).ok());
  const std::string name = machine.file_with(detail::manifest_name("k", 0));
  const std::string other = machine.file_with(detail::manifest_name("other", 0));
  *machine.disk().content("/disk0", name) = *machine.disk().content("/disk0", other);
  const RecoveryReport report = machine.restart();
  BOOST_REQUIRE(report.refused.size() == 1U);
  BOOST_TEST(says(report.refused[0], "it is of object 'other'"), report.refused[0].to_string());
  BOOST_TEST(machine.holds("other", 2, 1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
