#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/store/store_names.h"
#include "test/object_store/content.h"
#include "test/object_store/disk_machine.h"

namespace corail::test {
namespace {

using std::chrono::seconds;
using Committed = Result<std::shared_ptr<const StripingInfo>>;

/// An open put of "k" with all its bytes, content_of(seed, kSize).
ObjectGeneration written_put(DiskMachine& machine, std::uint64_t seed) {
  const PutRequest request = StoreRig::request("k", kSize);
  const auto put = machine.run(machine.store().begin_put(request));
  BOOST_REQUIRE_MESSAGE(put.ok(), text_of(put));
  BOOST_REQUIRE(machine.write_all(*put, request, content_of(seed, kSize)).ok());
  return *put;
}

BOOST_AUTO_TEST_SUITE(interleavings)

// The older put is still syncing when the newer one is there: it must not replace it.
BOOST_AUTO_TEST_CASE(an_older_commit_that_is_overtaken_while_it_syncs_is_refused) {
  DiskMachine machine;
  const ObjectGeneration older = written_put(machine, 1);
  const ObjectGeneration newer = written_put(machine, 2);
  machine.disk().hold("fsync /disk0/" + detail::stripes_name(older));
  const auto slow = machine.begin(machine.store().commit_put(older));
  machine.settle_but_held();
  BOOST_TEST(machine.disk().holding() == 1U);
  BOOST_TEST(machine.run(machine.store().commit_put(newer)).ok());
  machine.disk().let_go();
  machine.settle();
  BOOST_REQUIRE(slow->has_value());
  BOOST_TEST((code_of(**slow) == Errc::kGenerationChanged), text_of(**slow));
  BOOST_TEST(machine.holds("k", 2));
  machine.restart();
  BOOST_TEST(machine.holds("k", 2));
  BOOST_TEST(machine.files().size() == kFiles, joined(machine.files()));
}

// The same, and the newer one is deleted again: who has seen it must not see an older one.
BOOST_AUTO_TEST_CASE(an_older_commit_does_not_bring_back_what_was_deleted_meanwhile) {
  DiskMachine machine;
  const ObjectGeneration older = written_put(machine, 1);
  const ObjectGeneration newer = written_put(machine, 2);
  machine.disk().hold("fsync /disk0/" + detail::stripes_name(older));
  const auto slow = machine.begin(machine.store().commit_put(older));
  machine.settle_but_held();
  BOOST_TEST(machine.run(machine.store().commit_put(newer)).ok());
  BOOST_TEST(machine.run(machine.store().erase("k", std::nullopt)).ok());
  machine.disk().let_go();
  machine.settle();
  BOOST_TEST((code_of(**slow) == Errc::kGenerationChanged), text_of(**slow));
  BOOST_TEST((code_of(machine.get("k")) == Errc::kNotFound));
  BOOST_TEST(machine.nothing_left(), joined(machine.files()));
}

// The older one has the turn: the newer one and a delete wait for theirs.
BOOST_AUTO_TEST_CASE(manifests_change_one_after_the_other) {
  DiskMachine machine;
  const ObjectGeneration older = written_put(machine, 1);
  const ObjectGeneration newer = written_put(machine, 2);
  machine.disk().hold("rename");
  const auto first = machine.begin(machine.store().commit_put(older));
  machine.settle_but_held();
  BOOST_TEST(machine.disk().holding() == 1U);
  const auto second = machine.begin(machine.store().commit_put(newer));
  const auto erased = machine.begin(machine.store().erase("k", newer));
  machine.settle_but_held();
  BOOST_TEST(machine.disk().holding() == 1U);
  BOOST_TEST((!second->has_value() && !erased->has_value()));
  machine.disk().let_go();
  machine.settle();
  BOOST_TEST((*first)->ok());
  BOOST_TEST((*second)->ok());
  // Of a generation that was not there yet when the delete was asked for.
  BOOST_TEST(((*erased)->ok() && ***erased == newer), text_of(**erased));
  BOOST_TEST(machine.nothing_left(), joined(machine.files()));
}

// I6: a lease that lapses under a read takes nothing from it, and the bytes go right after it.
BOOST_AUTO_TEST_CASE(bytes_stay_until_a_read_that_outlives_its_lease_returns) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  const auto lease = machine.store().lease("k", std::nullopt, seconds(10));
  std::vector<std::byte> stripe(2 * kGranuleBytes);
  machine.disk().hold("read");
  const auto read =
      machine.begin(machine.store().read(lease->id, 0, 0, stripe, ReadCheck::kVerify));
  machine.settle_but_held();
  BOOST_TEST(machine.disk().holding() == 1U);
  const auto erased = machine.begin(machine.store().erase("k", std::nullopt));
  machine.clock().advance(seconds(11));
  machine.settle_but_held();
  BOOST_TEST((*erased)->ok());
  BOOST_TEST(machine.store().stats().leases == 0U);
  BOOST_TEST(machine.files().size() == kFiles - 1, joined(machine.files()));
  machine.disk().let_go();
  machine.settle();
  BOOST_TEST((*read)->ok(), text_of(**read));
  BOOST_TEST(machine.nothing_left(), joined(machine.files()));
}

BOOST_AUTO_TEST_CASE(an_abort_lets_a_write_that_runs_end_first) {
  DiskMachine machine;
  const PutRequest request = StoreRig::request("k", kSize);
  const auto put = machine.run(machine.store().begin_put(request));
  const auto content = content_of(1, kSize);
  machine.disk().hold("write");
  const auto stripe = std::span(content).first(request.stripe_size);
  const auto write = machine.begin(machine.store().write(*put, 0, 0, stripe));
  machine.settle_but_held();
  BOOST_TEST(machine.disk().holding() == 1U);
  BOOST_TEST(machine.run(machine.store().abort_put(*put)).ok());
  machine.settle_but_held();
  BOOST_TEST(!machine.nothing_left());  // the files are still being written to
  BOOST_TEST(!write->has_value());
  machine.disk().let_go();
  machine.settle();
  BOOST_TEST((code_of(**write) == Errc::kCancelled), text_of(**write));
  BOOST_TEST(machine.nothing_left(), joined(machine.files()));
}

/// What the operations of one run did to a key.
struct History {
  std::uint64_t newest = 0;               // generation that was committed
  std::map<std::uint64_t, bool> deleted;  // by generation
  std::size_t wrong = 0;                  // reads that saw something else than one put's content
  std::size_t done = 0;
};

Task<bool> put_once(ObjectStore* store, std::uint64_t seed, History* history) {
  const PutRequest request = StoreRig::request("k", kSize);
  const auto put = co_await store->begin_put(request);
  if (!put) co_return false;
  const auto content = content_of(seed, kSize);
  for (std::uint32_t stripe = 0; stripe * request.stripe_size < kSize; ++stripe) {
    const std::uint64_t at = stripe * request.stripe_size;
    const auto bytes = std::span(content).subspan(at, std::min(request.stripe_size, kSize - at));
    const auto written = co_await store->write(*put, stripe, 0, bytes);
    if (!written) co_return false;
  }
  const auto committed = co_await store->commit_put(*put);
  ++history->done;
  // A newer one was there: then this one was refused.
  if (committed) {
    if (put->value() < history->newest) ++history->wrong;
    history->newest = put->value();
  }
  co_return committed.ok();
}

Task<bool> erase_once(ObjectStore* store, History* history) {
  const auto erased = co_await store->erase("k", std::nullopt);
  ++history->done;
  if (erased) history->deleted[erased->value()] = true;
  co_return erased.ok();
}

Task<bool> read_once(ObjectStore* store, History* history) {
  const auto lease = store->lease("k", std::nullopt, Duration(0));
  ++history->done;
  if (!lease) co_return false;
  const ObjectDescriptor& object = lease->info->object;
  std::vector<std::byte> bytes(kSize);
  bool ok = true;
  for (std::uint32_t i = 0; i < object.chunks.size(); ++i) {
    const auto into = std::span(bytes).subspan(i * object.stripe_size, object.chunks[i].length);
    const auto read = co_await store->read(lease->id, i, 0, into, ReadCheck::kVerify);
    ok = ok && read.ok();
  }
  // Verified granule by granule, and all of one generation: its first word says which put's.
  if (!ok) ++history->wrong;
  store->release(lease->id);
  co_return ok;
}

// Puts, deletes and reads of one key whose disk calls mix as chance has it.
BOOST_AUTO_TEST_CASE(whatever_the_order_one_put_wins_and_reads_see_whole_generations) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    DiskMachine machine(seed);
    SeededRandom random(seed);
    History history;
    machine.disk().take_turns(6);
    std::vector<std::shared_ptr<std::optional<bool>>> running;
    ObjectStore* const store = &machine.store();
    for (std::uint64_t i = 0; i < 12; ++i) {
      switch (random.below(6)) {
        case 0:
          running.push_back(machine.begin(erase_once(store, &history)));
          break;
        case 1:
        case 2:
          running.push_back(machine.begin(read_once(store, &history)));
          break;
        default:
          running.push_back(machine.begin(put_once(store, seed * 100 + i, &history)));
      }
    }
    machine.settle();
    BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_TEST(history.done == running.size());
      BOOST_TEST(history.wrong == 0U);
      const bool there = history.newest != 0 && !history.deleted.contains(history.newest);
      for (int life = 0; life < 2; ++life) {
        const auto found = machine.store().lookup("k");
        BOOST_TEST(found.ok() == there);
        if (found) {
          BOOST_TEST((*found)->object.generation.value() == history.newest);
          BOOST_TEST(machine.get("k").ok());
        }
        BOOST_TEST(machine.files().size() == (there ? kFiles : 0), joined(machine.files()));
        BOOST_TEST(machine.restart().refused.empty());
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
